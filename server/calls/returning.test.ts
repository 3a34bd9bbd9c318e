import { expect, test } from 'vitest';
import { operator, setupCalls, tool } from './testing/setup-calls.ts';

test('[RM6] a client gets the message to forget an end once that is on disk', async () => {
  const { calls, store, connect, invoke } = await setupCalls();
  const phone = connect('phone', { claims: true, epoch: 'e1' });
  phone.offer(tool('pay'));
  const { id } = await invoke('pay');
  await phone.claim(id, 1);
  const disk = Promise.withResolvers<void>();
  const { write } = store;
  store.write = (changes, options) => disk.promise.then(() => write(changes, options));
  const answered = calls.answer(id, operator, 'by hand');
  await new Promise(setImmediate);
  let welcome: unknown;
  const back = phone.back([{ id, attempt: 1, phase: 'started' }]).then((value) => {
    welcome = value;
  });
  await new Promise(setImmediate);
  expect(welcome).toBeUndefined();
  disk.resolve();
  await Promise.all([answered, back]);
  expect(welcome).toEqual({ forget: [id], cancel: [] });
});
