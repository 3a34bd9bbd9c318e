import { expect, test } from 'vitest';
import { createEmitter } from './emitter.ts';

test('tells every listener, until it unsubscribes', () => {
  const heard: string[] = [];
  const emitter = createEmitter<string>();
  const stop = emitter.subscribe((value) => heard.push(`first ${value}`));
  emitter.subscribe((value) => heard.push(`second ${value}`));
  emitter.emit('a');
  stop();
  emitter.emit('b');
  expect(heard).toEqual(['first a', 'second a', 'second b']);
});

test('one function may listen twice, and each unsubscribe ends one of them', () => {
  let heard = 0;
  const emitter = createEmitter<null>();
  const listener = () => {
    heard += 1;
  };
  emitter.subscribe(listener)();
  emitter.subscribe(listener);
  emitter.subscribe(listener);
  emitter.emit(null);
  expect(heard).toBe(2);
});

test('a listener that throws is told of, and the next one still hears', () => {
  const [errors, heard]: [unknown[], string[]] = [[], []];
  const emitter = createEmitter<string>((error) => errors.push(error));
  const broken = new Error('broken listener');
  emitter.subscribe(() => {
    throw broken;
  });
  emitter.subscribe((value) => heard.push(value));
  emitter.emit('a');
  expect({ errors, heard }).toEqual({ errors: [broken], heard: ['a'] });
});
