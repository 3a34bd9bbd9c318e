import { expect, test } from 'vitest';
import { sayElapsed } from './project.mjs';

test('a long step prints how long it has taken so far, until it ends', async () => {
  const lines: string[] = [];
  const second = Promise.withResolvers<void>();
  const quiet = sayElapsed('building', {
    eachMs: 1,
    print: (line) => {
      if (lines.push(line) === 2) second.resolve();
    },
  });
  await second.promise;
  quiet();
  expect(lines[0]).toBe('building: 0 s so far …');
});
