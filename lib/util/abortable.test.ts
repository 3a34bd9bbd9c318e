import { expect, test } from 'vitest';
import { abortable } from './abortable.ts';

const never = new Promise<never>(() => {});

test('gives what the promise gives', async () => {
  const { signal } = new AbortController();
  expect(await abortable(signal, Promise.resolve(1))).toBe(1);
  await expect(abortable(signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('rejects with the reason as soon as the signal aborts, or had', async () => {
  const controller = new AbortController();
  const waiting = abortable(controller.signal, never);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(abortable(controller.signal, never)).rejects.toThrow('enough');
});

test('what fails after the abort is let go', async () => {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const waiting = abortable(controller.signal, late.promise);
  controller.abort(new Error('enough'));
  late.reject(new Error('late'));
  await expect(waiting).rejects.toThrow('enough');
});
