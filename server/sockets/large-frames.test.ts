import { expect, test } from 'vitest';
import { createFrameQueue, createTurns } from './large-frames.ts';

test('[RG1][UN3] behind a small message that takes long nothing is read, and it counts until it is handled', async () => {
  const log: string[] = [];
  const handled = Promise.withResolvers<void>();
  const take = createFrameQueue<string, string>({
    inbound: {
      pause: () => void log.push('pause'),
      resume: () => void log.push('resume'),
      hold: (bytes) => {
        log.push(`hold ${bytes}`);
        return () => void log.push('release');
      },
    },
    turns: createTurns(),
    parse: (frame) => frame,
    handle: (message) => {
      log.push(message);
      return message === 'probe' ? undefined : handled.promise;
    },
    takesLong: (message) => message === 'register',
  });
  for (const frame of ['result', 'register', 'probe']) take(frame);
  expect(log).toEqual(['result', 'register', 'pause', 'hold 8']);
  handled.resolve();
  await expect.poll(() => log.slice(4)).toEqual(['release', 'probe', 'resume']);
});
