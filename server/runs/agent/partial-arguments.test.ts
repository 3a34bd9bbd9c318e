import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { LIMITS } from '#lib/protocol/limits';
import { PartialArguments } from './partial-arguments.ts';

/** Parsing is asynchronous: lets everything that is ready happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function setup({ readsWhole = false } = {}) {
  const clock = createManualClock();
  const sent: Record<string, unknown>[] = [];
  const wholes: Promise<unknown>[] = [];
  const send = (params: Record<string, unknown>, whole?: () => Promise<unknown>) => {
    sent.push(params);
    if (whole && readsWhole) wholes.push(whole());
  };
  const partial = new PartialArguments({ clock, send });
  const type = async (text: string, letterMs = 50) => {
    for (const letter of text) {
      partial.push(letter);
      await settle();
      clock.advance(letterMs);
    }
    await settle();
  };
  return { clock, sent, wholes, partial, type };
}

test('a short argument is seen to grow', async () => {
  const { sent, type } = setup();
  await type('{"city":"Ber');
  expect(sent.map(({ city }) => city)).toEqual(['', 'B', 'Be', 'Ber']);
});

test('[AL22] what is written is there whole as well, of a long text again once it has grown by a quarter', async () => {
  const { clock, wholes, partial } = setup({ readsWhole: true });
  const text = Array.from({ length: 20_000 }, (_, at) => `${at}`.padStart(5)).join('');
  partial.push('{"to":"Ann","text":"');
  for (let at = 0; at < text.length; at += 100) {
    partial.push(text.slice(at, at + 100));
    await settle();
    clock.advance(200);
  }
  partial.push('\ud83d');
  await settle();
  const read = z.array(
    z.object({ to: z.literal('Ann'), text: z.string().refine((read) => text.startsWith(read)) }),
  );
  const lengths = read.parse(await Promise.all(wholes)).map((one) => one.text.length);
  expect(lengths.filter((length) => length < 4_000).length).toBeGreaterThan(30);
  expect(lengths.at(-1)).toBeGreaterThan(text.length * 0.75);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(10 * text.length);
});

test('[AL20] a key that did not change is not sent again', async () => {
  const { sent, type } = setup();
  await type('{"city":"Rome","days":3}');
  expect(sent.at(-1)).toEqual({ days: 3 });
  expect(sent.filter((params) => params.city === 'Rome')).toHaveLength(1);
});

test('[AL21] letters that come at once make one update, and the next 50 ms later', async () => {
  const { clock, sent, partial } = setup();
  for (const letter of '{"a":"b') partial.push(letter);
  await settle();
  partial.push('c');
  await settle();
  expect(sent).toEqual([{ a: 'b' }]);
  clock.advance(49);
  await settle();
  expect(sent).toHaveLength(1);
  clock.advance(1);
  await settle();
  expect(sent).toEqual([{ a: 'b' }, { a: 'bc' }]);
});

const words = Array.from({ length: 3_334 }, (_, n) => String(n).padStart(5, '0')).join(' ');

test.each([
  ['one long string', JSON.stringify({ text: words })],
  [
    'many keys',
    JSON.stringify(Object.fromEntries(Array.from({ length: 1_400 }, (_, i) => [`key${i}`, i]))),
  ],
  ['a long list', JSON.stringify({ list: Array.from({ length: 5_000 }, (_, i) => i) })],
])('[AL22] 20 kB in small pieces grow steadily: %s', async (_, text) => {
  const { clock, sent, partial } = setup();
  const pieces = text.match(/.{1,8}/gs) ?? [];
  let [most, quiet, before] = [0, 0, 0];
  for (const piece of pieces) {
    partial.push(piece);
    await settle();
    clock.advance(10);
    await settle();
    quiet = sent.length > before ? 0 : quiet + piece.length;
    before = sent.length;
    most = Math.max(most, quiet);
  }
  expect(text.length).toBeGreaterThan(18_000);
  // 250 ms at 8 characters each 10 ms.
  expect(most).toBeLessThanOrEqual(200);
  expect(Math.max(...sent.map((one) => JSON.stringify(one).length))).toBeLessThan(1_500);
});

test.each([20_000, 100_000, 200_000])(
  '[AL22] a text of %i characters shows 5 to 20 updates in each second, and bytes by its seconds',
  async (length) => {
    const { clock, sent, partial } = setup();
    const text = JSON.stringify({ text: words.repeat(20).slice(0, length) });
    const counts: number[] = [];
    // 2,000 characters a second, 20 each 10 ms.
    for (let at = 0; at < text.length; ) {
      const before = sent.length;
      for (let piece = 0; piece < 100; piece += 1, at += 20) {
        partial.push(text.slice(at, at + 20));
        await settle();
        clock.advance(10);
      }
      await settle();
      counts.push(sent.length - before);
    }
    const whole = counts.slice(0, -1);
    expect(Math.min(...whole)).toBeGreaterThanOrEqual(5);
    expect(Math.max(...whole)).toBeLessThanOrEqual(20);
    // Of a long text 400 characters are shown, so 20 updates are 8 kB a second at most.
    const bytes = sent.reduce((sum, one) => sum + JSON.stringify(one).length, 0);
    expect(bytes).toBeLessThanOrEqual(counts.length * 20 * 420);
    expect(bytes / text.length).toBeLessThan(4.2);
  },
);

test('[AL21] [AL22] E12: 20 kB in 1,000 pieces within 2.5 s are at most 60 updates, of at most three times the size', async () => {
  const { clock, sent, partial } = setup();
  const text = JSON.stringify({ content: words });
  for (const piece of text.match(/.{1,20}/gs) ?? []) {
    partial.push(piece);
    await settle();
    clock.advance(2.5);
  }
  await settle();
  expect(sent.length).toBeGreaterThan(10);
  expect(sent.length).toBeLessThanOrEqual(60);
  expect(JSON.stringify(sent).length).toBeLessThanOrEqual(3 * text.length);
});

test('[AL21] T151: ten thousand pieces of one moment are one update', async () => {
  const { sent, partial } = setup();
  partial.push('{"a":"');
  for (let piece = 0; piece < 10_000; piece += 1) partial.push('x');
  await settle();
  expect(sent).toHaveLength(1);
});

test('[AL22] T151: long arguments of calls that are written at once are read one after the other', async () => {
  const clock = createManualClock();
  const reads = new Map<number, number>();
  const send = () => void reads.set(clock.now(), (reads.get(clock.now()) ?? 0) + 1);
  const calls = Array.from({ length: 16 }, () => new PartialArguments({ clock, send }));
  for (const call of calls) call.push(`{"a":"${'x'.repeat(200_000)}`);
  for (let ms = 0; ms < 2_000; ms += 10) {
    for (const [at, call] of calls.entries()) call.push(`${at % 10}`);
    await settle();
    clock.advance(10);
  }
  // A text of 200,000 characters leaves the thread to others for 40 ms.
  expect([...reads.values()].every((count) => count === 1)).toBe(true);
  expect(reads.size).toBeGreaterThan(30);
  expect(reads.size).toBeLessThanOrEqual(51);
});

test('[AL22] of a long text the end is shown, and no half of a character', async () => {
  const { sent, partial } = setup();
  partial.push(`{"text":"${'\\n😀'.repeat(500)}a`);
  await settle();
  const shown = String(sent[0]?.text);
  expect(shown).toMatch(/^…(?:\n|😀)+a$/u);
  expect(shown.length).toBeGreaterThan(350);
  expect(shown.length).toBeLessThanOrEqual(401);
});

test.each(['[1,2,3]', '"text"', 'nonsense', '{{{{', `{"a":${'['.repeat(6_000)}`])(
  '[AL23] %.12s sends nothing and throws nothing',
  async (text) => {
    const { sent, partial } = setup();
    partial.push(text);
    await settle();
    expect(sent).toEqual([]);
  },
);

test('[AL23] nothing is sent of more than arguments may be', async () => {
  const { sent, partial } = setup();
  partial.push(`{"a":"${'x'.repeat(LIMITS.argsBytes)}`);
  await settle();
  expect(sent).toEqual([]);
});

test('[AL24] nothing is sent after the end, not even what was waiting', async () => {
  const { clock, sent, partial } = setup();
  partial.push('{"a":"b');
  await settle();
  partial.push('c');
  partial.end();
  clock.advance(1_000);
  await settle();
  expect(sent).toEqual([{ a: 'b' }]);
});

test('[AL24] nothing is sent when the end comes while it looks', async () => {
  const { sent, partial } = setup();
  partial.push('{"a":"b');
  partial.end();
  await settle();
  expect(sent).toEqual([]);
});

/** Cuts a text at places that the test chooses. */
const piecesOf = (text: string, sizes: readonly number[]): string[] => {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
};

const jsonObject = fc.dictionary(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary', maxLength: 300 })),
  { maxKeys: 6 },
);

test('[AL20] each value comes as it is, however its text is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      jsonObject,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(undefined, 2),
      async (object, sizes, indent) => {
        const text = JSON.stringify(object, null, indent);
        fc.pre(Object.values(object).every((value) => JSON.stringify(value).length <= 400));
        // The reader of the SDK takes no such name.
        fc.pre(!text.includes('__proto__'));
        const { clock, sent, partial } = setup();
        for (const piece of piecesOf(text, sizes)) {
          partial.push(piece);
          await settle();
          clock.advance(1_000);
        }
        await settle();
        expect(Object.assign({}, ...sent)).toEqual(JSON.parse(text));
      },
    ),
    { numRuns: 50 },
  );
});

test('[AL22] a value that is long shows its end, whatever it is', async () => {
  const list = JSON.stringify(Array.from({ length: 2_000 }, (_, n) => n));
  const { clock, sent, partial } = setup();
  partial.push(`{"list": ${list.slice(0, 3_000)}`);
  await settle();
  clock.advance(1_000);
  partial.push(`${list.slice(3_000)}, "x": {"y": "}]`);
  await settle();
  expect(sent).toEqual([
    { list: `…${list.slice(2_601, 3_000)}]` },
    { list: `…${list.slice(-400)}`, x: { y: '}]' } },
  ]);
});

test('[AL22] the end of a text that is all escapes is text', async () => {
  const { sent, partial } = setup();
  partial.push(`{"text":"${'\\u4e2d\\\\\\"'.repeat(900)}`);
  await settle();
  expect(sent[0]?.text).toMatch(/^…["\\]{0,2}(?:中\\")+$/);
});

test('[AL204] a line break that is no escape grows, too', async () => {
  const { sent, type } = setup();
  await type('{"a":"x\ny');
  expect(sent.at(-1)).toEqual({ a: 'x\ny' });
});

test('[AL22] arguments of more than 4,000 keys are not read again for each update', async () => {
  const { clock, sent, partial } = setup();
  const members = Array.from({ length: 5_000 }, (_, at) => `"k${at}":${at}`);
  const push = async (piece: string) => {
    const before = sent.length;
    partial.push(piece);
    await settle();
    clock.advance(1_000);
    return sent.length - before;
  };
  expect(await push(`{${members.slice(0, 3_900).join(',')},`)).toBe(1);
  expect(await push(`${members.slice(3_900).join(',')},`)).toBe(0);
  expect(await push('"last":"one"}')).toBe(0);
});
