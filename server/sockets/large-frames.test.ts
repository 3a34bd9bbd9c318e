import { expect, test } from 'vitest';
import { Semaphore } from '#lib/limits/semaphore';
import { createFrameQueue } from './inbound.ts';

/** Queues over one `large`, whose frames are the names of messages, and what becomes of them. */
function setup() {
  const log: string[] = [];
  const large = new Semaphore({ atOnce: 1 });
  const handled = Promise.withResolvers<void>();
  const open = (who: string) =>
    createFrameQueue<string, string>({
      inbound: {
        pause: () => void log.push(`${who}: pause`),
        resume: () => void log.push(`${who}: resume`),
        hold: (bytes) => {
          log.push(`${who}: hold ${bytes}`);
          return () => void log.push(`${who}: release`);
        },
      },
      large,
      parse: (frame) => frame.trim(),
      handle: (message) => {
        log.push(`${who}: ${message}`);
        return message === 'register' ? handled.promise : Promise.resolve();
      },
      takesLong: (message) => message === 'register',
    });
  return { log, open, handled };
}

test('[RG1][UN3] behind a small message that takes long nothing is read, and it counts until it is handled', async () => {
  const { log, open, handled } = setup();
  const take = open('a');
  for (const frame of ['result', 'register', 'probe']) take(frame);
  expect(log).toEqual(['a: result', 'a: register', 'a: pause', 'a: hold 8']);
  handled.resolve();
  await expect.poll(() => log.slice(4)).toEqual(['a: release', 'a: probe', 'a: resume']);
});

test('[UN2][RG1] a large message that takes long keeps its own client waiting, and no large one of another', async () => {
  const { log, open, handled } = setup();
  const [a, b] = [open('a'), open('b')];
  const bytes = 256 * 1024;
  for (const frame of ['register'.padEnd(bytes), 'probe']) a(frame);
  b('result'.padEnd(bytes));
  await expect.poll(() => log.at(-1)).toBe('b: resume');
  expect(log.filter((line) => line.startsWith('b'))).toEqual([
    ...['b: pause', `b: hold ${bytes}`, 'b: result', 'b: release', 'b: resume'],
  ]);
  const ofA = () => log.filter((line) => line.startsWith('a'));
  expect(ofA()).toEqual(['a: pause', `a: hold ${bytes}`, 'a: register']);
  handled.resolve();
  await expect.poll(() => ofA().slice(3)).toEqual(['a: release', 'a: probe', 'a: resume']);
});
