import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ToolError } from '../define-tool.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { createCalculationEval } from './calculate.ts';

const tool = createCalculationEval();
const resultOf = async (expression: string) => {
  const output = await runBuiltin(tool, { expression });
  return output instanceof Object && 'value' in output ? output.value : undefined;
};
const refusal = (expression: string) =>
  expect(runBuiltin(tool, { expression }), expression.slice(0, 40)).rejects;

test('[TB1] arithmetic is computed with the usual precedence', async () => {
  for (const [expression, value] of [
    ['2 * (3 + 4) ^ 2', 98],
    ['-2^2', -4],
    ['2^3^2', 512],
    ['10 % 3', 1],
    ['-7 mod 3', 2],
    ['0.1 + 0.2', 0.3],
    ['1/3', 0.333333333333333],
    ['2 pi', 6.28318530717959],
    ['5! + factorial(3)', 126],
    ['8% * 50', 4],
    ['max(1, sqrt(16), 3) + min(2, 1)', 5],
    ['round(1.005, 2)', 1.01],
    ['log(8, 2) + ln(e)', 4],
    ['sum(1, 2, 3) / mean(2, 4)', 2],
    ['9007199254740991', 9007199254740991],
  ] as const) {
    expect(await resultOf(expression), expression).toBe(value);
  }
  expect(await runBuiltin(tool, { expression: '1+1' })).toEqual({ expression: '1+1', value: 2 });
});

test('[TB1] T114: what is not arithmetic is an error', async () => {
  for (const expression of [
    'constructor.constructor("return process")()',
    'cos.constructor',
    '"a".length',
    'import("fs")',
    'eval(1)',
    'x = 1',
    'f(x) = x',
    '[1, 2]',
    '{a: 1}',
    '1:3',
    '1; 2',
    '"text"',
    'true',
    'null',
    '1 < 2',
    '1 ? 2 : 3',
    '2 cm',
    'combinations(60, 30)',
    'range(1, 1e9)',
    'random()',
    'x',
    '__proto__',
    'toString()',
    'constructor(1)',
    'parse(1)',
    'sqrt(1, 2)',
    'sqrt()',
    'hypot.apply(1)',
    '(sqrt)(4)(2)',
    "5'",
    '~1',
    '1 & 2',
    '2 +',
    '',
    ' ',
    '#',
  ]) {
    await refusal(expression).toThrow();
    if (expression !== '') await refusal(expression).toThrow(ToolError);
  }
});

test('[TB2] T115: what would be slow or huge is an error at once', async () => {
  for (const expression of [
    '9^9^9^9',
    '('.repeat(100_000),
    `${'(('.repeat(60)}1${'))'.repeat(60)}`,
    '2^(2^64)',
    'factorial(1e9)',
    '171!',
    '1e999',
    '1/0',
    '0/0',
    'sqrt(-1)',
    `${'-'.repeat(400)}1`,
    '9'.repeat(450),
    'round(1, 400)',
    'round(2^70, 400)',
    '2^1024',
    '10^308 * 10',
    '10^200 * 10^200 / 10^200',
    `(${'9'.repeat(308)})^(${'9'.repeat(308)})`,
    `${'('.repeat(900)}1${')'.repeat(900)}`,
    `${'2^'.repeat(999)}2`,
    `${'['.repeat(1_999)}`,
    `${'1+'.repeat(1_000)}1`,
    '5!!!',
  ]) {
    await refusal(expression).toThrow();
  }
  await refusal('sqrt(-1)').toThrow(/not a real number/);
  await refusal('1/0').toThrow(/infinite/);
  // Not by the end of the parser's stack.
  await refusal('('.repeat(900)).toThrow(/too deep/);
  await refusal(`${'-'.repeat(900)}1`).toThrow(/too deep/);
  expect(String(await resultOf('170!'))).toMatch(/^7257415615307\d{294}$/);
});

test('[TB11] integers are exact, beyond 2^53 as a string of digits', async () => {
  for (const [expression, value] of [
    ['123456789*987654321', '121932631112635269'],
    ['9007199254740991 + 1', '9007199254740992'],
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['2^64 - 1', '18446744073709551615'],
    ['(2^64 - 1) mod 1000', 615],
    ['-7 mod 2^60', '1152921504606846969'],
    ['(10^30 + 3) / (10^30 + 3)', 1],
    ['25! / 24!', 25],
    ['25!', '15511210043330985984000000'],
    ['sum(2^53, 1) - max(2^53, 1)', 1],
    ['mean(2^60, 2^60 + 2)', '1152921504606846977'],
    ['abs(-2^63) + min(2, floor(2.5)) * sign(-4)', '9223372036854775806'],
    ['round(2.4) * 1234567890123456789', '2469135780246913578'],
    ['round(2^70, 3) + trunc(2^70) - ceil(2^70)', '1180591620717411303424'],
    ['0x1fffffffffffffff', '2305843009213693951'],
    ['pow(3, 40)', '12157665459056928801'],
    ['(-1)^(10^20 + 1)', -1],
  ] as const) {
    expect(await runBuiltin(tool, { expression })).toEqual({ expression, value });
  }
});

test('[TB11] what is not exact is marked as rounded', async () => {
  for (const [expression, value] of [
    ['1/3', 0.333333333333333],
    ['2 pi', 6.28318530717959],
    ['123456789.5 * 987654321', 121932631606462000],
    ['2^70 * 1.5', 1770887431076120000000],
    ['1e300 * 10', 1e301],
    ['sqrt(10^40 + 1)', 1e20],
    ['1000000000000000.3', 1e15],
  ] as const) {
    expect(await runBuiltin(tool, { expression })).toEqual({ expression, value, rounded: true });
  }
  for (const [expression, value] of [
    ['1/4', 0.25],
    ['0.5 * 4', 2],
    ['sqrt(16)', 4],
    ['2^-2', 0.25],
  ] as const) {
    expect(await runBuiltin(tool, { expression })).toEqual({ expression, value });
  }
});

test('[TB11] integers are exact whatever they are', async () => {
  const integer = fc.bigInt({ min: -(10n ** 100n), max: 10n ** 100n });
  const digits = (value: bigint) => `(${value})`;
  const exactly = async (expression: string, value: bigint) =>
    expect(BigInt(String(await resultOf(expression))), expression).toBe(value);
  await fc.assert(
    fc.asyncProperty(integer, integer, async (a, b) => {
      await exactly(`${digits(a)} + ${digits(b)} * ${digits(a)}`, a + b * a);
      await exactly(`${digits(a)} - ${digits(b)}`, a - b);
      if (b !== 0n) await exactly(`${digits(a * b)} / ${digits(b)}`, a);
    }),
  );
});

test('[TB2] chains are as long as the expression may be', async () => {
  expect(await resultOf(`${'1+'.repeat(50)}1`)).toBe(51);
  expect(await resultOf(`${'1+'.repeat(999)}1`)).toBe(1_000);
  expect(await resultOf(Array.from({ length: 180 }, () => '1234567.25').join('-'))).toBe(
    1234567.25 * -178,
  );
  expect(await resultOf(`2${' * 3 / 3'.repeat(200)}`)).toBe(2);
  expect(await resultOf(`max(${'1, '.repeat(99)}2)`)).toBe(2);
});

test('[TB1] blank lines around an expression are not part of it', async () => {
  expect(await resultOf('\n 2*21\n')).toBe(42);
});
