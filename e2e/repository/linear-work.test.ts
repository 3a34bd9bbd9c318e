import { expect, test } from 'vitest';
import { boundUpdate } from '#lib/call/merge-card';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { parseJson } from '#lib/json/parse-json';
import { LIMITS } from '#lib/protocol/limits';
import { stripInvisible } from '#lib/text/invisible';
import { redactShapes, valueRedactor } from '#lib/text/redact';
import { parseClientFrame } from '../../server/clients/parse-client-frame.ts';
import { PartialArguments } from '../../server/runs/agent/partial-arguments.ts';
import { CallParser } from '../../server/runs/agent/text-calls/call-parser.ts';

/**
 * What comes in at a door is work that grows with it and no faster. Times differ between machines,
 * so the work is counted: the characters that our code has the engine look at, make or read.
 */
function countWork(run: () => unknown): number {
  let work = 0;
  const restore = [
    ...(['charCodeAt', 'charAt', 'codePointAt', 'startsWith', 'endsWith'] as const).map((name) =>
      watch(String.prototype, name, () => 1),
    ),
    ...(['slice', 'repeat', 'toLowerCase', 'toWellFormed'] as const).map((name) =>
      watch(String.prototype, name, (_text, made) => String(made).length),
    ),
    ...(['includes', 'replace', 'replaceAll', 'split', 'match', 'isWellFormed'] as const).map(
      (name) => watch(String.prototype, name, (text) => String(text).length),
    ),
    watch(String.prototype, 'indexOf', (text, at, [, from = 0]) =>
      Number(at) < 0 ? String(text).length - Number(from) : Number(at) - Number(from) + 1,
    ),
    watch(JSON, 'parse', (_json, _made, [text]) => String(text).length),
    watch(JSON, 'stringify', (_json, made) => String(made).length),
  ];
  try {
    run();
  } finally {
    for (const one of restore) one();
  }
  return work;

  function watch<Name extends string>(
    object: { [Key in Name]: (...given: never[]) => unknown },
    name: Name,
    weigh: (self: unknown, made: unknown, given: readonly unknown[]) => number,
  ): () => void {
    const own = object[name];
    const watched = function (this: unknown, ...given: never[]) {
      const made: unknown = Reflect.apply(own, this, given);
      work += Math.max(1, weigh(this, made, given));
      return made;
    };
    Object.defineProperty(object, name, { value: watched, configurable: true, writable: true });
    return () =>
      Object.defineProperty(object, name, { value: own, configurable: true, writable: true });
  }
}

const json = { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes };
const secretsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ kind: 'argument', value: `secret-${at}-secret` }));
const resultOf = (output: unknown) =>
  JSON.stringify({ type: 'tool_result', id: 'tc_1', output, success: true });

/** Each makes its input of a size, and gives what takes it in. */
const DOORS: Record<string, (size: number) => () => unknown> = {
  'a frame with one long text': (size) => {
    const frame = resultOf('x\ud83c'.repeat(size));
    return () => parseClientFrame(frame);
  },
  'a frame with many values': (size) => {
    const frame = resultOf(Array.from({ length: size }, (_, at) => ({ [`k${at}`]: [at] })));
    return () => parseClientFrame(frame);
  },
  'a body of JSON': (size) => {
    const text = JSON.stringify(Array.from({ length: size }, () => 'a\0b'));
    return () => parseJson(text, json);
  },
  'secret arguments in an answer': (size) => {
    const take = valueRedactor(secretsOf(size));
    const text = 'Some words of an answer, secret-7-secret too. '.repeat(size);
    return () => take?.(text);
  },
  'secrets that begin alike': (size) => {
    const values = Array.from({ length: size }, (_, at) => `${'a'.repeat(20)}${at}`);
    const take = valueRedactor(values.map((value) => ({ kind: 'argument', value })));
    const text = 'a'.repeat(size * 10);
    return () => take?.(text);
  },
  'what looks like keys and tokens': (size) => {
    const text = '-----BEGIN PRIVATE KEY-----AAAA. eyJaaaaaaaa.eyJbbbbbbbb sk-'.repeat(size);
    return () => redactShapes(text);
  },
  'a card with large values': (size) => {
    const params = Object.fromEntries(
      Array.from({ length: size }, (_, at) => [`k${at}`, 'x'.repeat(100)]),
    );
    return () => boundUpdate(undefined, { params, result: params });
  },
  'invisible characters': (size) => {
    const text = 'a\u200b\u202e'.repeat(size * 10);
    return () => stripInvisible(text);
  },
  'arguments that are written in pieces': (size) => () => {
    const clock = createManualClock();
    const partial = new PartialArguments({ clock, send: () => {} });
    partial.push('{"text":"');
    for (let at = 0; at < size; at += 1) partial.push('some words');
  },
  'calls in the text of a model': (size) => () => {
    const parser = new CallParser({ names: new Set(['echo']), isText: () => false });
    for (let at = 0; at < size; at += 1) parser.push('<tool_call>{"name": "e');
    parser.end();
  },
};

test.each(Object.entries(DOORS))('%s is work that grows with it, and no faster', (_door, door) => {
  const [small, large] = [800, 3_200].map((size) => {
    const run = door(size);
    return countWork(run);
  });
  expect(small).toBeGreaterThan(0);
  expect((large ?? 0) / (small ?? 1)).toBeLessThan(6);
});
