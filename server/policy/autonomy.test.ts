import { expect, test } from 'vitest';
import { AUTONOMY_LEVELS, type AutonomyLevel } from '#lib/policy/autonomy';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { operator, reading, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { putRun, sampleRun } from '../store/testing/store-setup.ts';
import { Autonomy } from './autonomy.ts';
import { testAutonomy, testPolicy } from './testing/test-policy.ts';

const POLICY = { ask: ['pay'], deny: ['door'] };

async function setup(levels: { all?: AutonomyLevel; run?: AutonomyLevel } = {}) {
  const autonomy = testAutonomy();
  if (levels.all) await autonomy.set(levels.all, null);
  if (levels.run) await autonomy.set(levels.run, 'run_1');
  const policy = testPolicy(POLICY, { autonomy });
  const one = await setupCalls({ check: policy.check });
  one.connect('phone').offer(tool('pay'), tool('fx'), tool('door'), tool('look', reading));
  return { ...one, policy, autonomy };
}

test.each<[AutonomyLevel | undefined, AutonomyLevel | undefined, string[]]>([
  [undefined, undefined, ['ask', 'runs', 'denied', 'runs']],
  ['supervised', undefined, ['ask', 'runs', 'denied', 'runs']],
  ['read_only', undefined, ['denied', 'denied', 'denied', 'runs']],
  ['full', undefined, ['runs', 'runs', 'denied', 'runs']],
  ['supervised', 'full', ['runs', 'runs', 'denied', 'runs']],
  ['full', 'read_only', ['denied', 'denied', 'denied', 'runs']],
  ['full', 'supervised', ['ask', 'runs', 'denied', 'runs']],
  ['read_only', 'full', ['denied', 'denied', 'denied', 'runs']],
])('[PO9] all %s, the run %s: pay, fx, door and look are %j', async (all, run, expected) => {
  const { invoke } = await setup({ ...(all && { all }), ...(run && { run }) });
  const outcomes: string[] = [];
  for (const name of ['pay', 'fx', 'door', 'look']) {
    const { phase, error } = await invoke(name);
    outcomes.push(error?.code ?? (phase === 'approval' ? 'ask' : 'runs'));
  }
  expect(outcomes).toEqual(expected);
});

test('[PO10] T84: the next call goes by the level that was set, and only people set it', async () => {
  const { invoke, policy } = await setup();
  const set = (by: Principal, level: AutonomyLevel) => policy.setAutonomy(by, level, null);
  const others: Principal[] = [
    { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['*'] },
    { kind: 'device', clientId: 'phone', tokenId: null },
    { kind: 'run', runId: 'run_1', owner: operator },
    { ...FIRST_OPERATOR, role: 'viewer' },
  ];
  for (const by of others) expect(await set(by, 'full')).toBe('not_permitted');
  expect((await invoke('pay')).phase).toBe('approval');
  expect(await set(operator, 'full')).toBe('set');
  expect((await invoke('pay')).phase).toBe('offered');
});

test('[PO10] a level holds over restarts, and of 1,000 runs none loses its own', async () => {
  const { store, clock, logger, bus } = await setupCalls();
  const before = new Autonomy({ store, clock, logger, bus });
  await before.set('full', null);
  await Promise.all(Array.from({ length: 1_000 }, (_, n) => before.set('read_only', `run_${n}`)));
  expect(await before.set('read_only', 'run_more')).toBe(false);
  expect(await before.set('supervised', 'run_7')).toBe(true);
  expect(await before.set(null, 'run_8')).toBe(true);
  const after = new Autonomy({ store, clock, logger, bus });
  await after.load();
  for (const one of [before, after]) {
    expect(['run_0', 'run_7', 'run_8', 'run_more'].map((id) => one.of(id))).toEqual([
      ...['read_only', 'supervised', 'full', 'full'],
    ]);
    expect([one.state().level, one.state().runs.length]).toEqual(['full', 999]);
  }
  expect(AUTONOMY_LEVELS).toContain(after.state().runs[0]?.level);
});

test('[PO10] the level of a run goes when the run is deleted, and not before', async () => {
  const { store, clock, logger, bus } = await setupCalls();
  const autonomy = new Autonomy({ store, clock, logger, bus });
  for (const id of ['run_old', 'run_kept']) {
    await store.write([putRun(sampleRun({ run_id: id, updated_at: 1 }))]);
    await autonomy.set('full', id);
  }
  const remove = (runId: string, changedBefore: number) =>
    autonomy.deleting(runId, () => store.write([{ type: 'delete_run', runId, changedBefore }]))();
  await remove('run_old', 2_000);
  // Called in meanwhile: it stays.
  await remove('run_kept', 500);
  const after = new Autonomy({ store, clock, logger, bus });
  await after.load();
  for (const one of [autonomy, after]) {
    expect(['run_old', 'run_kept'].map((id) => one.of(id))).toEqual(['supervised', 'full']);
  }
});

test('[PO60] a level set for a name waits for the run of the one who set it, over a restart too', async () => {
  const { store, clock, logger, bus } = await setupCalls();
  const autonomy = new Autonomy({ store, clock, logger, bus });
  await store.write([putRun(sampleRun({ run_id: 'run_there' }))]);
  for (const id of ['run_there', 'run_own', 'run_taken']) await autonomy.set('full', id, null);
  const after = new Autonomy({ store, clock, logger, bus });
  await after.load();
  const levels = () => ['run_there', 'run_own', 'run_taken'].map((id) => after.of(id));
  expect(levels()).toEqual(['full', 'supervised', 'supervised']);
  after.claimed('run_own', null);
  after.claimed('run_taken', 'tok_bot');
  expect(levels()).toEqual(['full', 'full', 'supervised']);
  expect(after.state().runs.map(({ run_id }) => run_id)).not.toContain('run_taken');
  // Whoever comes next under the name has nothing of it.
  after.claimed('run_taken', null);
  expect(levels()).toEqual(['full', 'full', 'supervised']);
  await store.write([]);
  const later = new Autonomy({ store, clock, logger, bus });
  await later.load();
  expect(later.of('run_own')).toBe('full');
});

test('[DE5] a sub-agent’s run has the level of the run that it works for, or less', async () => {
  const { store, clock, logger, bus } = await setupCalls();
  const rootOf = (runId: string) => (runId === 'run_child' ? 'run_1' : runId);
  const autonomy = new Autonomy({ store, clock, logger, bus, rootOf });
  const levels = async (all: AutonomyLevel, root: AutonomyLevel, own: AutonomyLevel | null) => {
    await autonomy.set(all, null);
    await autonomy.set(root, 'run_1');
    await autonomy.set(own, 'run_child');
    return autonomy.of('run_child');
  };
  expect(await levels('full', 'read_only', null)).toBe('read_only');
  expect(await levels('supervised', 'full', null)).toBe('full');
  expect(await levels('supervised', 'read_only', 'full')).toBe('read_only');
  expect(await levels('supervised', 'full', 'read_only')).toBe('read_only');
});

test('[PO28] each switch is published as it is, for all and for one run', async () => {
  const { store, clock, logger, bus } = await setupCalls();
  const seen: WatchEvent[] = [];
  bus.subscribe({ onEvents: (events) => seen.push(...events.map(({ event }) => event)) });
  const autonomy = new Autonomy({ store, clock, logger, bus });
  await autonomy.set('full', null);
  await autonomy.set('read_only', 'run_1');
  await autonomy.set(null, 'run_1');
  await expect
    .poll(() => seen)
    .toMatchObject([
      { type: 'autonomy', of_run: null, level: 'full', set_at: expect.any(Number) },
      { type: 'autonomy', of_run: 'run_1', level: 'read_only' },
      { type: 'autonomy', of_run: 'run_1', level: null },
    ]);
});
