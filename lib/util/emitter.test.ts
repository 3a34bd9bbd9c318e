import { expect, test } from 'vitest';
import { createEmitter } from './emitter.ts';

test('calls every listener, until it unsubscribes', () => {
  const received: string[] = [];
  const emitter = createEmitter<string>();
  const stop = emitter.subscribe((value) => received.push(`first ${value}`));
  emitter.subscribe((value) => received.push(`second ${value}`));
  emitter.emit('a');
  stop();
  emitter.emit('b');
  expect(received).toEqual(['first a', 'second a', 'second b']);
});

test('one function may listen twice, and each unsubscribe ends one of them', () => {
  let received = 0;
  const emitter = createEmitter<null>();
  const listener = () => {
    received += 1;
  };
  emitter.subscribe(listener)();
  emitter.subscribe(listener);
  emitter.subscribe(listener);
  emitter.emit(null);
  expect(received).toBe(2);
});

test('a listener that throws is reported, and the next one is still called', () => {
  const [errors, received]: [unknown[], string[]] = [[], []];
  const emitter = createEmitter<string>((error) => errors.push(error));
  const broken = new Error('broken listener');
  emitter.subscribe(() => {
    throw broken;
  });
  emitter.subscribe((value) => received.push(value));
  emitter.emit('a');
  expect({ errors, received }).toEqual({ errors: [broken], received: ['a'] });
});
