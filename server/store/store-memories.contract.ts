import { expect, test } from 'vitest';
import type { MemoryRecord } from './store.ts';
import { BadSearchError } from './store-errors.ts';
import type { Setup } from './testing/store-setup.ts';

const memory = (key: string, text: string, more: Partial<MemoryRecord> = {}): MemoryRecord => ({
  ...{ ownerToken: null, key, text, putAt: 1, untrusted: null },
  ...more,
});

const put = (one: MemoryRecord) => ({ type: 'put_memory', memory: one }) as const;

/** What agents note, as every `Store` keeps it. */
export function describeMemories(setup: Setup): void {
  test('[ST79] what was noted is found by its words, those that fit best first, after a restart too', async () => {
    const { store, reopen } = setup();
    const shop = memory('shop', 'The shop opens at nine', { putAt: 1 });
    const hours = memory('hours', 'Opening: the shop, the bakery', { putAt: 2 });
    const tea = memory('tea', '她喜欢绿茶', { putAt: 3 });
    await store.write([shop, hours, tea].map(put));
    const again = await reopen();
    const keys = async (text: string, limit = 9) =>
      (await again.memories.find({ ownerToken: null, text, limit })).map(({ key }) => key);
    expect(await again.memories.find({ ownerToken: null, text: 'NINE', limit: 9 })).toEqual([shop]);
    expect(await keys('绿茶')).toEqual(['tea']);
    expect(await keys('bakery shop')).toEqual(['hours', 'shop']);
    expect(await keys('bak')).toEqual(['hours']);
    expect(await keys('')).toEqual(['tea', 'hours', 'shop']);
    expect(await keys('', 1)).toEqual(['tea']);
    expect(await keys('OR AND "NEAR( *')).toEqual([]);
    expect(await keys('***')).toEqual([]);
    await expect(keys('a b c d e f g h i')).rejects.toThrow(BadSearchError);
  });

  test('[ST79] a key has one text, the newest; what was replaced or deleted is not found', async () => {
    const { store, reopen } = setup();
    await store.write([put(memory('a', 'first words')), put(memory('b', 'other words'))]);
    await store.write([
      put(memory('a', 'second')),
      { type: 'delete_memory', ownerToken: null, key: 'b' },
    ]);
    const again = await reopen();
    const find = (text: string) => again.memories.find({ ownerToken: null, text, limit: 9 });
    expect(await find('words')).toEqual([]);
    expect(await find('')).toEqual([memory('a', 'second')]);
    expect(await again.memories.sizes(null, 'a')).toEqual({
      ...{ count: 1, bytes: 6, allBytes: 6, replacedBytes: 6 },
    });
  });

  test('[ST79] a note keeps after which tool it was noted, and one that replaces it has its own', async () => {
    const { store, reopen } = setup();
    await store.write([put(memory('a', 'of others', { untrusted: 'http.request' }))]);
    const again = await reopen();
    const find = () => again.memories.find({ ownerToken: null, limit: 9 });
    expect(await find()).toMatchObject([{ untrusted: 'http.request' }]);
    await again.write([put(memory('a', 'own words'))]);
    expect(await find()).toMatchObject([{ text: 'own words', untrusted: null }]);
  });

  test('[ST79] each owner finds its own alone, and what it noted goes with its token', async () => {
    const { store } = setup();
    const own = memory('a', 'secret of one', { ownerToken: 'tok_1' });
    const others = memory('a', 'secret of the first');
    await store.write([put(own), put(others)]);
    const find = (ownerToken: string | null, text: string) =>
      store.memories.find({ ownerToken, text, limit: 9 });
    expect(await find('tok_1', 'secret')).toEqual([own]);
    expect(await find('tok_1', '')).toEqual([own]);
    expect(await find(null, 'secret')).toEqual([others]);
    expect(await find('tok_2', 'secret')).toEqual([]);
    expect(await store.memories.sizes('tok_2', 'a')).toEqual({
      ...{ count: 0, bytes: 0, allBytes: 32, replacedBytes: null },
    });
    await store.write([{ type: 'delete_token', id: 'tok_1' }]);
    expect(await find('tok_1', '')).toEqual([]);
    expect(await find(null, 'secret')).toEqual([others]);
  });
}
