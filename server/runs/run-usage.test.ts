import { expect, test } from 'vitest';
import { echo, inOrder, setupTurns } from './agent/testing/setup-turns.ts';
import { createRunUsage } from './run-usage.ts';
import type { PriceTable } from './runs-config.ts';

const usage = { input: 1_000_000, output: 200_000, reasoning: 50_000, cached: 400_000 };
const script = inOrder(
  { calls: [{ name: 'demo_echo', args: { text: 'x' } }], usage },
  { text: 'It says x.', usage },
);

const PRICES: PriceTable = {
  currency: 'EUR',
  models: { 'openai-chat:gpt-4o': { input: 2, cached_input: 1, output: 10 } },
};

/** A run of two requests, each with the tokens above. */
async function setup(prices?: PriceTable) {
  const made = await setupTurns({ script, tools: [echo], ...(prices ? { prices } : {}) });
  return { ...made, run: await made.turn('echo x') };
}

const TOKENS = {
  ...{ requests: 2, uncounted_requests: 0, input_tokens: 2_000_000, cached_tokens: 800_000 },
  ...{ output_tokens: 400_000, reasoning_tokens: 100_000 },
};

test('[RU40] a run sums the tokens of its requests, and says so in its events', async () => {
  const { run, bus } = await setup();
  expect(run.usage).toEqual({ ...TOKENS, cost: null });
  const last = bus.events.findLast((event) => event.type === 'run');
  expect(last).toMatchObject({ run: { status: 'idle', usage: TOKENS } });
});

test('[RU41] with prices a run has its cost: cached input at its own price, all output at one', async () => {
  const { run } = await setup(PRICES);
  // 2 × (0.6 × 2 + 0.4 × 1 + 0.2 × 10)
  expect(run.usage?.cost?.amount).toBeCloseTo(7.2);
  expect(run.usage?.cost).toMatchObject({ currency: 'EUR', unpriced_requests: 0 });
});

test('[RU40] [RU41] the sum is made again from the disk, by the prices of now', async () => {
  const { run, restarted } = await setup(PRICES);
  const prices = { currency: 'USD', models: { 'openai-*:gpt*': { input: 1, output: 0 } } };
  const again = await restarted({ prices });
  const found = await again.runs.get(run.run_id);
  expect(found?.usage).toEqual({
    ...TOKENS,
    cost: { amount: 2, currency: 'USD', unpriced_requests: 0 },
  });
  await again.runs.send(run.run_id, { input: 'more' });
  await again.bus.until((event) => event.type === 'run' && event.run.usage?.requests === 4);
});

test('[RU41] a model without a price adds tokens and no cost, and is counted', () => {
  const tokens = { input_tokens: 10, output_tokens: 1, reasoning_tokens: 0, cached_tokens: 0 };
  const count = createRunUsage([], PRICES);
  expect(count.total()).toBeUndefined();
  count.add('openai:other', tokens);
  expect(count.total()).toMatchObject({ input_tokens: 10, cost: null });
  count.add('openai-chat:gpt-4o', tokens);
  count.add('openai-chat:gpt-4o', { ...tokens, input_tokens: null, output_tokens: null });
  expect(count.total()).toMatchObject({
    ...{ requests: 3, uncounted_requests: 1, input_tokens: 20 },
    cost: { unpriced_requests: 2, amount: 0.000_03 },
  });
});

test.each([
  ['openai:gpt-5', 'openai:gpt-5', true],
  ['openai:gpt-5', 'openai:gpt-5-mini', false],
  ['openai:*', 'openai:gpt-5', true],
  ['*', 'anything', true],
  ['*:gpt-*-mini', 'openai:gpt-5-mini', true],
  ['*:gpt-*-mini', 'openai:gpt-mini', false],
  ['a*a', 'a', false],
  ['(a+)+$', 'aaa', false],
])('[RU41] the price of %s counts for %s: %s', (pattern, model, isPriced) => {
  const prices = { currency: 'EUR', models: { [pattern]: { input: 1, output: 1 } } };
  const count = createRunUsage([], prices);
  const tokens = { input_tokens: 1, output_tokens: 1, reasoning_tokens: 0, cached_tokens: 0 };
  count.add(model, tokens);
  expect(count.total()?.cost !== null).toBe(isPriced);
});
