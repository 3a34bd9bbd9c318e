import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { ApprovalScope } from '#lib/call/call-record';
import { NO_ROUTING } from '#lib/call/call-record';
import { AlwaysAllowed } from './always-allowed.ts';
import { setupCalls } from './testing/setup-calls.ts';

const asked = (n: number, more: Partial<ApprovalScope> = {}) => ({
  runId: `run_${n}`,
  toolName: 'pay',
  routing: { ...NO_ROUTING, approval: { clientId: 'till', toolHash: 'h', ...more } },
});

test('[CA8] of what is always allowed the oldest goes first, on disk too', async () => {
  const { store, clock, close } = await setupCalls();
  const always = new AlwaysAllowed({ store, clock });
  const adding = Array.from({ length: 1_000 }, (_, n) => always.add(asked(n)));
  await Promise.all([...adding, always.add(asked(0)), always.add(asked(1_000))]);
  const started = new AlwaysAllowed({ store, clock });
  await started.load();
  for (const one of [always, started]) {
    expect([0, 1, 2, 1_000].map((n) => one.has(asked(n)))).toEqual([true, false, true, true]);
    expect(one.list()).toHaveLength(1_000);
  }
  await close();
});

test('[CA8] what is withdrawn is asked again, after a restart too', async () => {
  const before = await setupCalls();
  const { store, clock } = before;
  const always = new AlwaysAllowed({ store, clock });
  await Promise.all([always.add(asked(1)), always.add(asked(1, { clientId: null }))]);
  const [rule] = always.list();
  expect(rule).toMatchObject({ runId: 'run_1', clientId: 'till', allowedAt: clock.now() });
  expect(await always.withdraw(rule?.id ?? '')).toEqual(rule);
  expect(await always.withdraw(rule?.id ?? '')).toBeUndefined();
  await before.close(true);
  const after = await setupCalls({ dir: before.dir });
  const started = new AlwaysAllowed({ store: after.store, clock });
  await started.load();
  expect([started.has(asked(1)), started.has(asked(1, { clientId: null }))]).toEqual([false, true]);
  expect(started.has(asked(1, { clientId: null, toolHash: 'other' }))).toBe(false);
  await after.close();
  await rm(before.dir, { recursive: true, force: true });
});
