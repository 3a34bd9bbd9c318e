import type { Random } from '../random.ts';

const NUMBERS = [0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 1e-320];
const STRINGS = [
  '',
  ' ',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  '😀',
  '../..',
  'tc_',
  '"',
];

const HOSTILE: readonly ((random: Random) => unknown)[] = [
  () => null,
  (random) => random.pick(NUMBERS),
  (random) => random.pick(STRINGS),
  (random) => random.pick(STRINGS).repeat(random.between(1, 300)),
  (random) => random.chance(0.5),
  (random) => Array.from({ length: random.between(0, 20) }, () => random.pick(NUMBERS)),
  (random) => Object.fromEntries(STRINGS.map((key) => [key, random.pick(NUMBERS)])),
  (random) => deep(random.between(1, 90)),
  () => JSON.parse('{"__proto__": {"admin": true}, "constructor": {"prototype": 1}}'),
  () => ({ $ref: '#', type: 'object', pattern: '^(a+)+$' }),
];

const deep = (depth: number): unknown =>
  depth === 0 ? 1 : depth % 2 === 0 ? [deep(depth - 1)] : { a: deep(depth - 1) };

/** Another value in place of one that was right. */
const hostile = (random: Random): unknown => random.pick(HOSTILE)(random);

/** The same with one place changed, taken away, or added. */
function mutatedOnce(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0 || random.chance(0.3)) return [...value, hostile(random)];
    const at = random.between(0, value.length - 1);
    return value.map((one, index) => (index === at ? mutatedOnce(one, random) : one));
  }
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value);
    if (keys.length === 0 || random.chance(0.15))
      return { ...value, [random.pick(STRINGS)]: hostile(random) };
    const key = random.pick(keys);
    const { [key]: old, ...rest } = value as Record<string, unknown>;
    if (random.chance(0.2)) return rest;
    return { ...rest, [key]: random.chance(0.6) ? hostile(random) : mutatedOnce(old, random) };
  }
  return hostile(random);
}

/** A value so deep that whoever walks it with a recursion of its own is lost; its key makes one look. */
export function abyss(message: object): string {
  const depth = 12_000;
  const value = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  return JSON.stringify({ ...message, output: 0, params: { a: 0 }, '\u0000': 0 })
    .replace('"output":0', `"output":${value}`)
    .replace('"a":0', `"a":${value}`);
}

/** A message as text: now and then as it was, mostly with some of it wrong, sometimes no JSON any more. */
export function mutated(message: object, random: Random): string {
  if (random.chance(0.15)) return JSON.stringify(message);
  if (random.chance(0.002)) return abyss(message);
  let value: unknown = message;
  for (let times = random.between(1, 3); times > 0; times -= 1) value = mutatedOnce(value, random);
  const text = JSON.stringify(value) ?? 'undefined';
  if (random.chance(0.85)) return text;
  const at = random.between(0, text.length);
  const broken = [
    () => text.slice(0, at),
    () => text.slice(0, at) + random.pick(['"', '{', '[', ',', '\\', '\u0001']) + text.slice(at),
    () => text.replace('"type"', '"type":"hello","type"'),
    () => `${text.slice(0, at)}${text}`,
  ];
  return random.pick(broken)();
}
