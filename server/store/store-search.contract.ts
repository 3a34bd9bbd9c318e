import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { finalCall } from '#lib/call/testing/sample-call';
import { BadSearchError } from './store-errors.ts';
import { appendCall, type Setup } from './testing/store-setup.ts';

/** The search over the history, as every `Store` answers it. */
export function describeSearch(setup: Setup) {
  const found: [string, string, Partial<Call>][] = [
    ['an argument', 'berlin', { args: { city: 'Berlin' } }],
    ['the beginning of a word', 'berl', { args: { city: 'Berlin' } }],
    ['a name of an argument', 'city', { args: { city: 'Berlin' } }],
    ['a result', 'sunny', { result: { list: [{ sky: 'sunny' }] } }],
    ['a late result', 'sunny', { lateResult: 'sunny' }],
    ['an error', 'refused', { error: { code: 'denied', message: 'it refused', executed: 'no' } }],
    ['a tool', 'weather', { toolName: 'weather.query' }],
    ['a word after a line break', 'second', { result: 'first\nsecond' }],
    ['a number', '42', { result: 42 }],
    ['words of several places', 'berlin SUNNY', { args: { c: 'Berlin' }, result: 'sunny' }],
    ['a part of a Chinese sentence', '天气', { result: '今天天气很好' }],
    ['a name with marks', 'image_url', { args: { image_url: 'x' } }],
    ['letters with accents', 'munchen', { args: { city: 'München' } }],
    ['an emoji', '🎉', { args: { text: 'done🎉' } }],
    ['an emoji by its other style', '❤️', { result: 'with ❤' }],
    ['one flag of several', '🇨🇭', { result: '🇩🇪🇨🇭' }],
    ['full-width forms', 'abc123', { args: { text: 'ＡＢＣ１２３' } }],
    ['by full-width forms', 'ｂｅｒｌｉｎ', { args: { city: 'Berlin' } }],
    ['half-width katakana', 'カメラ', { args: { text: 'ｶﾒﾗ' } }],
  ];
  test.each(found)('[ST13] a search finds %s', async (_, text, given) => {
    const { store } = setup();
    await store.write([
      appendCall(finalCall({ id: 'tc_hit', toolName: 'tool', args: {}, ...given })),
      appendCall(finalCall({ id: 'tc_other', toolName: 'tool', args: { text: '别的 nothing' } })),
    ]);
    const { calls } = await store.listCalls({ limit: 10, text });
    expect(calls.map((call) => call.id)).toEqual(['tc_hit']);
  });

  test('[ST13] all words must be there, and other filters hold', async () => {
    const { store } = setup();
    await store.write([
      appendCall(finalCall({ id: 'tc_1', args: { a: 'red house' } })),
      appendCall(finalCall({ id: 'tc_2', runId: 'run_2', args: { a: 'red car' } })),
    ]);
    const ids = async (text: string, runId?: string) =>
      (await store.listCalls({ limit: 10, text, ...(runId && { runId }) })).calls.map((c) => c.id);
    expect(await ids('red')).toEqual(['tc_2', 'tc_1']);
    expect(await ids('red house')).toEqual(['tc_1']);
    expect(await ids('house car')).toEqual([]);
    expect(await ids('red', 'run_2')).toEqual(['tc_2']);
    expect(await ids('   ')).toEqual(['tc_2', 'tc_1']);
  });

  test('[ST13] no text is query syntax, and none is an error', async () => {
    const { store } = setup();
    await store.write([appendCall(finalCall({ args: { a: 'red house' } }))]);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        await store.listCalls({ limit: 1, text });
      }),
    );
    for (const text of ['red NOT house', 'red OR green', 'args:red', 'NEAR(red)']) {
      expect((await store.listCalls({ limit: 1, text })).calls).toEqual([]);
    }
    expect((await store.listCalls({ limit: 1, text: 'red\u0000car' })).calls).toEqual([]);
    for (const text of ['*red*', '"red', 'red -', '(house)']) {
      expect((await store.listCalls({ limit: 1, text })).calls).toHaveLength(1);
    }
  });

  test.each(['%', '_', '*', ' % ', '---'])(
    '[ST13] %s alone has no word, and is found nowhere',
    async (text) => {
      const { store } = setup();
      await store.write([appendCall(finalCall({ args: { a: `red ${text} house` } }))]);
      expect(await store.listCalls({ limit: 1, text })).toEqual({ calls: [], nextCursor: null });
    },
  );

  test('[ST13] a search has the order of a list, and goes on from a cursor of one', async () => {
    const { store } = setup();
    await store.write(['b', 'a', 'c'].map((id) => appendCall(finalCall({ id }))));
    const { calls, nextCursor } = await store.listCalls({ limit: 1 });
    expect(calls.map(({ id }) => id)).toEqual(['c']);
    const rest = await store.listCalls({ limit: 9, text: 'hi', cursor: nextCursor ?? '' });
    expect(rest.calls.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  const long: [string, string][] = [
    ['nine words', 'a b c d e f g h i'],
    ['450 letters', 'a '.repeat(450)],
    ['one word of many parts', 'a.'.repeat(65)],
    ['a long Chinese text', '天'.repeat(65)],
  ];
  test.each(long)('[ST13] %s are refused', async (_, text) => {
    const { store } = setup();
    await store.write([appendCall(finalCall())]);
    await expect(store.listCalls({ limit: 1, text })).rejects.toThrow(BadSearchError);
    await expect(store.listCalls({ limit: 1, text })).rejects.toThrow(/at most (8 words|64 parts)/);
  });

  test('[ST13] eight words are searched for, and marks alone are none', async () => {
    const { store } = setup();
    await store.write([appendCall(finalCall({ args: { a: 'a b c d e f g h' } }))]);
    expect((await store.listCalls({ limit: 1, text: 'a b c d - e f g h' })).calls).toHaveLength(1);
  });
}
