import { expect, test } from 'vitest';
import { TokenBucket, TokenBuckets } from './token-bucket.ts';

function setup(burst: number, perSecond: number) {
  const clock = { now: 1_000 };
  return { clock, bucket: new TokenBucket({ burst, perSecond }, () => clock.now) };
}

test('a burst is taken at once, and then as many as time brings', () => {
  const { clock, bucket } = setup(3, 10);
  const four = [bucket.take(), bucket.take(), bucket.take(), bucket.take()];
  expect(four).toEqual([true, true, true, false]);
  clock.now += 100;
  expect([bucket.take(), bucket.take()]).toEqual([true, false]);
});

test('several are taken together, or none', () => {
  const { clock, bucket } = setup(10, 10);
  expect([bucket.take(8), bucket.take(3), bucket.take(2)]).toEqual([true, false, true]);
  clock.now += 300;
  expect([bucket.take(4), bucket.take(3)]).toEqual([false, true]);
});

test('a token that is given back can be taken again, and the burst is not exceeded', () => {
  const { bucket } = setup(1, 0);
  bucket.giveBack();
  expect([bucket.take(), bucket.take()]).toEqual([true, false]);
  bucket.giveBack();
  expect(bucket.take()).toBe(true);
});

test('what is spent without a token is a debt that time pays first', () => {
  const { clock, bucket } = setup(1, 10);
  bucket.spend();
  bucket.spend();
  clock.now += 100;
  expect(bucket.isEmpty).toBe(true);
  clock.now += 100;
  expect(bucket.isEmpty).toBe(false);
});

test('a clock that was set back takes no tokens, and brings new ones as it runs', () => {
  const { clock, bucket } = setup(2, 10);
  bucket.spend();
  clock.now -= 3_600_000;
  expect(bucket.take()).toBe(true);
  clock.now += 100;
  expect(bucket.take()).toBe(true);
});

test('a bucket goes on with what was left of an earlier one, whatever the clock was set to', () => {
  const rate = { burst: 4, perSecond: 1 };
  const left = (now: number, tokens: number, at: number) =>
    new TokenBucket(rate, () => now, { tokens, at }).tokens;
  expect(left(2_000, 1, 1_000)).toBe(2);
  expect(left(500, 1, 1_000)).toBe(1);
  expect(left(1_000, 9, 1_000)).toBe(4);
});

test('each principal has a bucket; of more than are remembered, the one used longest ago is full again', () => {
  const buckets = new TokenBuckets({ burst: 1, perSecond: 0.5 }, () => 1_000, 2);
  expect([buckets.take('eve'), buckets.take('eve'), buckets.take('bob')]).toEqual([
    ...[undefined, 2, undefined],
  ]);
  buckets.take('eve');
  buckets.take('ada');
  expect([buckets.take('eve'), buckets.take('bob')]).toEqual([2, undefined]);
});
