import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { createSecrets } from '#lib/text/secrets';
import { given } from '#lib/util/given';
import { createStoreOnThisThread } from '../../store/testing/store-on-this-thread.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { createMemoryTools, type MemoryLimits } from './memory.ts';

const CANARY = 'canary-of-the-harbour-7f3a';
const { hide } = createSecrets([{ kind: 'configured', value: CANARY }]);

const dir = sharedTempDir();
let stores = 0;

function setup(
  limits: MemoryLimits = { most: 9, bytes: 9_000, allBytes: 9_000 },
  othersRead?: () => string | null,
) {
  const store = createStoreOnThisThread({ file: join(dir, `${++stores}.db`) });
  onTestFinished(() => store.close());
  let now = 0;
  const clock = { now: () => (now += 1_000) };
  const [keep, recall] = createMemoryTools({
    store,
    clock,
    limits,
    hide,
    ...given({ othersRead }),
  });
  if (!keep || !recall) throw new Error('a tool is missing');
  return {
    /** All that is on disk. */
    stored: () =>
      readdirSync(dir)
        .map((name) => readFileSync(join(dir, name)).toString('latin1'))
        .join('\n'),
    note: (key: string, text: string | null, ownerToken: string | null = null) =>
      runBuiltin(keep, { key, text }, { ownerToken }),
    recall: (args: object = {}, ownerToken: string | null = null) =>
      runBuiltin(recall, { ...args }, { ownerToken }),
  };
}

test('[TB17] a note is found by its words, and is one for its key', async () => {
  const { note, recall } = setup();
  expect(await note('user.tea', 'She drinks green tea')).toEqual({
    key: 'user.tea',
    replaced: false,
  });
  await note('user.city', 'She lives in Lisbon');
  expect(await recall({ query: 'tea lisb' })).toMatchObject({ memories: [{}, {}] });
  expect(await note('user.tea', 'She drinks coffee')).toEqual({ key: 'user.tea', replaced: true });
  const stored_at = new Date(3_000).toISOString();
  const coffee = { key: 'user.tea', text: 'She drinks coffee', stored_at };
  expect(await recall({ query: 'green coffee' })).toEqual({ memories: [coffee] });
  expect(await recall({ limit: 1 })).toEqual({ memories: [coffee] });
  expect(await note('user.tea', null)).toEqual({ key: 'user.tea', replaced: true });
  expect(await recall({ query: 'coffee' })).toEqual({ memories: [] });
  await expect(recall({ query: 'a b c d e f g h i' })).rejects.toThrow(/at most 8 words/);
});

test('[TB17] a note is stored without what is secret', async () => {
  const { note, recall, stored } = setup();
  const token = `ghp_${'a1B2'.repeat(9)}`;
  await note(`key of ${CANARY}`, `It is ${CANARY}, the other ${token}`);
  expect(await recall({ query: 'other' })).toMatchObject({
    memories: [
      {
        key: 'key of [redacted:configured]',
        text: 'It is [redacted:configured], the other [redacted:token]',
      },
    ],
  });
  expect(stored()).not.toContain(CANARY);
  expect(stored()).not.toContain(token);
});

test('[TB17] each owner finds its own notes alone', async () => {
  const { note, recall } = setup();
  await note('plan', 'the canary of one', 'tok_1');
  await note('plan', 'the canary of two', 'tok_2');
  expect(await recall({ query: 'canary' }, 'tok_1')).toMatchObject({
    memories: [{ text: 'the canary of one' }],
  });
  expect(await recall({ query: 'canary' })).toEqual({ memories: [] });
  await note('plan', null, 'tok_3');
  expect(await recall({}, 'tok_2')).toMatchObject({ memories: [{ text: 'the canary of two' }] });
});

test('[TB18] notes are bounded in number and bytes, of an owner and of all', async () => {
  const { note, recall } = setup({ most: 3, bytes: 20, allBytes: 30 });
  const noting = ['a', 'b', 'c', 'd', 'e'].map((key) => note(key, '12').catch(() => 'refused'));
  expect((await Promise.all(noting)).filter((end) => end === 'refused')).toHaveLength(2);
  expect(await recall({ limit: 9 })).toMatchObject({ memories: [{}, {}, {}] });
  await note('a', '1234567890123456');
  await expect(note('a', '12345678901234567')).rejects.toThrow(/20 bytes in all/);
  await note('a', 'ä'.repeat(8));
  await expect(note('a', 'ä'.repeat(9))).rejects.toThrow(/forget or replace/);
  await note('b', null);
  await note('x', '123456789012', 'tok_1');
  await expect(note('y', '1', 'tok_1')).rejects.toThrow(/is full/);
});

test('[TB17] T98: a note that was stored after content of others was read is recalled with that', async () => {
  let read: string | null = null;
  const { note, recall } = setup(undefined, () => read);
  await note('own', 'harbour');
  read = 'mail.read';
  await note('theirs', 'harbour');
  const { memories } = z
    .object({ memories: z.array(z.looseObject({ key: z.string() })) })
    .parse(await recall({ query: 'harbour' }));
  const marks = Object.fromEntries(memories.map((one) => [one.key, one.untrusted]));
  expect(marks).toEqual({ own: undefined, theirs: 'mail.read' });
});
