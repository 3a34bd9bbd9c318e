import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../../lib/testing/temp-dir.ts';
import { isServerSource, watchSources } from './run-development-server.mjs';

test.each(['server/top.ts', 'server/calls/invoke.ts', 'lib/protocol/card.ts'])(
  'tells of a change of %s',
  async (file) => {
    const root = tempDir();
    for (const folder of ['server/calls', 'server/bootstrap', 'lib/protocol']) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    const change = new Promise<string>((resolve) => {
      onTestFinished(watchSources(root, resolve));
    });
    writeFileSync(join(root, 'server/bootstrap/x.ts'), '');
    writeFileSync(join(root, 'lib/protocol/card.test.ts'), '');
    writeFileSync(join(root, file), '');
    expect(file.endsWith(await change)).toBe(true);
  },
);

test('tests, styles and notes start nothing anew', () => {
  const files = ['a.test.ts', 'a.css', 'SPEC.md', 'card.tsx', '4913', 'a.ts~'];
  expect(files.filter(isServerSource)).toEqual([]);
});
