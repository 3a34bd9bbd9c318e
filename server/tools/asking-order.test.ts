import { expect, test } from 'vitest';
import { askingOrder, type Offering } from './asking-order.ts';

const at = (clientId: string, more: Partial<Offering['availability']> = {}): Offering => ({
  clientId,
  availability: {
    name: clientId,
    visible: true,
    responsive: true,
    lastTouchedAt: 0,
    openCircuit: undefined,
    ...more,
  },
});
const order = (offerings: Offering[], from: string | null = null, named?: string) =>
  askingOrder(offerings, { named, from }).map(({ clientId }) => clientId);
const openCircuit = { tool: 't', until: 1, failures: 3 };

test.each([
  ['the client that is named, and no other', [at('a'), at('b')], 'a', 'b', ['b']],
  ['no client, when the one that is named does not offer it', [at('a')], 'a', 'c', []],
  [
    'the client whose person asks',
    [at('a', { lastTouchedAt: 9 }), at('b')],
    'b',
    undefined,
    ['b', 'a'],
  ],
  ['… though it is hidden', [at('a'), at('b', { visible: false })], 'b', undefined, ['b', 'a']],
  [
    '… but not when it is silent',
    [at('a'), at('b', { responsive: false })],
    'b',
    undefined,
    ['a', 'b'],
  ],
  [
    '… nor when it does not deliver',
    [at('a', { visible: false }), at('b', { openCircuit })],
    'b',
    undefined,
    ['a', 'b'],
  ],
  ['… nor when it is gone', [at('a', { visible: false }), at('c')], 'b', undefined, ['c', 'a']],
  [
    'a visible client',
    [at('a', { visible: false, lastTouchedAt: 9 }), at('b')],
    null,
    undefined,
    ['b', 'a'],
  ],
  [
    'the one that was touched last',
    [at('a', { lastTouchedAt: 1 }), at('b', { lastTouchedAt: 2 })],
    null,
    undefined,
    ['b', 'a'],
  ],
  [
    'a hidden one that answers before a silent one',
    [at('a', { responsive: false }), at('b', { visible: false })],
    null,
    undefined,
    ['b', 'a'],
  ],
  [
    'of two tabs of that client, the one that was touched last',
    [at('a', { lastTouchedAt: 9 }), at('b', { lastTouchedAt: 1 }), at('b', { lastTouchedAt: 2 })],
    'b',
    undefined,
    ['b', 'b', 'a'],
  ],
  [
    'which came first, where they are equal',
    [at('a'), at('b'), at('c')],
    null,
    undefined,
    ['a', 'b', 'c'],
  ],
] as const)('[TR7] asked is %s', (_, offerings, from, named, expected) => {
  expect(order([...offerings], from, named)).toEqual(expected);
});

test('[TR7] two tabs of the client whose person asks: the one that was touched last comes first', () => {
  const tabs = [1, 2].map((lastTouchedAt) => at('mine', { lastTouchedAt }));
  const [first] = askingOrder([...tabs, at('other', { lastTouchedAt: 9 })], {
    named: undefined,
    from: 'mine',
  });
  expect(first).toBe(tabs[1]);
});
