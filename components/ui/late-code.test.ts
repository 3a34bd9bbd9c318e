import { beforeEach, expect, test, vi } from 'vitest';
import { createLateCode, retryLateCode } from './late-code.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
/** Code on a network that is down until it is restored. */
function setup() {
  let attempts = 0;
  let isThere = false;
  const late = createLateCode(async () => {
    attempts += 1;
    if (!isThere) throw new Error('no network');
    return 'code';
  });
  return {
    late,
    attempts: () => attempts,
    mend: () => {
      isThere = true;
    },
  };
}

const settled = () => vi.advanceTimersByTimeAsync(0);
const subscribe = (late: ReturnType<typeof setup>['late']) => late.subscribe(() => {});

test('code that could not be fetched is fetched again without being asked for', async () => {
  const { late, mend } = setup();
  subscribe(late);
  await settled();
  expect(late.get()).toBe('failed');
  mend();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(late.get()).toEqual({ code: 'code' });
});

test('the waits between attempts grow to half a minute', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const { late, attempts } = setup();
  subscribe(late);
  await settled();
  const after = [];
  for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
    await vi.advanceTimersByTimeAsync(seconds * 1_000 - 1);
    const before = attempts();
    await vi.advanceTimersByTimeAsync(1);
    after.push(attempts() - before);
  }
  expect(after).toEqual([1, 1, 1, 1, 1, 1, 1]);
  expect(attempts()).toBe(8);
  vi.restoreAllMocks();
});

test('it is fetched at once when the network is back, and reads as failed until then', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const { late, mend } = setup();
  const seen: unknown[] = [];
  late.subscribe(() => seen.push(late.get()));
  await vi.advanceTimersByTimeAsync(20_000);
  mend();
  retryLateCode();
  await settled();
  expect(late.get()).toEqual({ code: 'code' });
  expect(new Set(seen.slice(0, -1))).toEqual(new Set(['failed']));
  vi.restoreAllMocks();
});

test('a person who asks sees that it is loading', async () => {
  const { late } = setup();
  subscribe(late);
  await settled();
  late.again();
  expect(late.get()).toBe('loading');
  await settled();
  expect(late.get()).toBe('failed');
});

test('what no one wants any more is not fetched, and neither is what is there', async () => {
  const { late, attempts, mend } = setup();
  const stop = subscribe(late);
  await settled();
  stop();
  retryLateCode();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(attempts()).toBe(1);
  mend();
  subscribe(late);
  subscribe(late);
  await settled();
  retryLateCode();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(attempts()).toBe(2);
});

test('code that is fetched before it is drawn is tried for until it is there', async () => {
  const { late, mend } = setup();
  late.fetch();
  await settled();
  mend();
  retryLateCode();
  await settled();
  expect(late.get()).toEqual({ code: 'code' });
});
