import type { ModelUsage } from '#lib/protocol/model-turn';
import type { RunUsage } from '#lib/protocol/run';
import type { StoredTokens } from '../store/room.ts';
import type { Price, PriceTable } from './runs-config.ts';

export type RunUsageCount = ReturnType<typeof createRunUsage>;

/** The usage of one run: what was on disk, and what is added since. */
export function createRunUsage(
  stored: readonly StoredTokens[],
  prices: PriceTable | undefined,
  storedBelow: readonly StoredTokens[] = [],
) {
  const own = byModel(stored);
  const below = byModel(storedBelow);
  return {
    add: (model: string, usage: ModelUsage): void => addTo(own, model, usage),
    addBelow: (model: string, usage: ModelUsage): void => addTo(below, model, usage),
    /** Undefined before the first answer. */
    total(): RunUsage | undefined {
      if (own.size === 0) return undefined;
      const usage = totalOf([...own.values()], prices);
      if (below.size === 0) return usage;
      return { ...usage, with_children: totalOf([...own.values(), ...below.values()], prices) };
    },
  };
}

type ByModel = Map<string, StoredTokens>;

const byModel = (stored: readonly StoredTokens[]): ByModel =>
  new Map(stored.map((tokens) => [tokens.model, tokens]));

function addTo(counted: ByModel, model: string, usage: ModelUsage): void {
  counted.set(model, sum(counted.get(model), tokensOf(model, usage)));
}

function totalOf(all: readonly StoredTokens[], prices: PriceTable | undefined): RunUsage {
  const { requests, uncounted, input, cached, output, reasoning } = all.reduce(sum);
  return {
    requests,
    uncounted_requests: uncounted,
    input_tokens: input,
    cached_tokens: cached,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cost: prices ? costOf(all, prices) : null,
  };
}

const tokensOf = (model: string, usage: ModelUsage): StoredTokens => ({
  model,
  requests: 1,
  uncounted: usage.input_tokens === null || usage.output_tokens === null ? 1 : 0,
  input: usage.input_tokens ?? 0,
  cached: usage.cached_tokens ?? 0,
  output: usage.output_tokens ?? 0,
  reasoning: usage.reasoning_tokens ?? 0,
});

const sum = (a: StoredTokens | undefined, b: StoredTokens): StoredTokens =>
  a === undefined
    ? b
    : {
        model: b.model,
        requests: a.requests + b.requests,
        uncounted: a.uncounted + b.uncounted,
        input: a.input + b.input,
        cached: a.cached + b.cached,
        output: a.output + b.output,
        reasoning: a.reasoning + b.reasoning,
      };

/** Null where no request has a price: nothing is made up. */
function costOf(all: readonly StoredTokens[], prices: PriceTable): RunUsage['cost'] {
  let amount = 0;
  let unpriced = 0;
  let priced = 0;
  for (const tokens of all) {
    const price = priceOf(tokens.model, prices);
    if (price) {
      amount += amountOf(tokens, price);
      priced += tokens.requests - tokens.uncounted;
      unpriced += tokens.uncounted;
    } else unpriced += tokens.requests;
  }
  if (priced === 0) return null;
  return { amount, currency: prices.currency, unpriced_requests: unpriced };
}

function amountOf({ input, cached, output }: StoredTokens, price: Price): number {
  const { cached_input: cachedInput = price.input } = price;
  const fresh = Math.max(0, input - cached);
  return (fresh * price.input + cached * cachedInput + output * price.output) / 1_000_000;
}

const priceOf = (model: string, { models }: PriceTable): Price | undefined =>
  Object.entries(models).find(([pattern]) => fits(pattern, model))?.[1];

/** In time linear in both: each piece between the stars is looked for behind the one before. */
function fits(pattern: string, model: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return first === model;
  if (!model.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = model.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return model.length - last.length >= at && model.endsWith(last);
}
