import { expect, test } from 'vitest';
import { type Agent, FIRST_OPERATOR, type Principal } from '../auth/principal.ts';
import { operator, setupCalls, tool } from '../calls/testing/setup-calls.ts';

const agent: Agent = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: ['fx.*', 'fx'] };
const NOT_PEOPLE: Principal[] = [
  agent,
  { kind: 'device', clientId: 'phone', tokenId: null },
  { kind: 'run', runId: 'run_1', owner: operator },
  { ...FIRST_OPERATOR, name: 'vera', role: 'viewer', tokenId: 'tok_vera' },
];

function setup() {
  return setupCalls({ check: () => ({ verdict: 'ask', reason: 'it has effects' }) });
}

test.each(NOT_PEOPLE)(
  '[AU30] T76: what is asked of people is not decided by $kind $name',
  async (principal) => {
    const { connect, invoke, call, calls } = await setup();
    connect('phone').offer(tool('fx'));
    const { id } = await invoke('fx');
    const before = await call(id);
    expect(before.phase).toBe('approval');
    for (const outcome of [
      await calls.decide(id, principal, { decision: 'yes' }),
      await calls.decide(id, principal, { decision: 'always' }),
      await calls.decide(id, principal, { decision: 'no' }),
      await calls.answer(id, principal, 'by hand'),
      await calls.extend(id, principal, 60_000),
    ]) {
      expect(outcome).toMatchObject({ ok: false, code: 'permission_denied' });
    }
    expect(await call(id)).toEqual(before);
    expect(calls.always.list()).toEqual([]);
  },
);

test('[AU36] each event that a request causes has its token and its address, over a restart too', async () => {
  const { connect, invoke, calls, store } = await setup();
  connect('phone').offer(tool('fx'));
  const address = '192.0.2.7';
  const { id } = await invoke('fx', {}, { principal: { ...agent, address }, runId: 'run_bot' });
  const olga: Principal = { ...FIRST_OPERATOR, name: 'olga', role: 'admin', tokenId: 'tok_olga' };
  await calls.decide(id, { ...olga, address }, { decision: 'yes' });
  await calls.extend(id, { ...FIRST_OPERATOR, address }, 1_000);
  await calls.answer(id, operator, 'by hand');
  const events = await store.callEvents(id, { after: 0, limit: 200 });
  expect(events.map(({ type, actor, via }) => [type, actor, via?.tokenId, via?.address])).toEqual([
    ['created', 'agent:bot', 'tok_bot', address],
    ['approved', 'operator:olga', 'tok_olga', address],
    ['offered', 'server', undefined, undefined],
    ['extended', 'operator', null, address],
    ['answered_by_hand', 'operator', undefined, undefined],
  ]);
});

test('[AU31] a key of one agent finds nothing for the next one of the same name', async () => {
  const { connect, invoke } = await setup();
  connect('phone').offer(tool('fx'));
  const asked = { principal: agent, idempotencyKey: 'k', runId: 'run_bot' };
  const first = await invoke('fx', {}, asked);
  expect((await invoke('fx', {}, asked)).id).toBe(first.id);
  const namesake = { ...agent, tokenId: 'tok_new' };
  const next = await invoke('fx', {}, { ...asked, runId: 'run_new', principal: namesake });
  expect(next.id).not.toBe(first.id);
});

test('[AU35] an agent calls in its own runs alone; another’s is as one that is not there', async () => {
  const { connect, invoke, calls, call } = await setup();
  connect('phone').offer(tool('fx'));
  const own = await invoke('fx', {}, { principal: agent, runId: 'run_bot' });
  expect(own).toMatchObject({ requestedBy: 'agent:bot', ownerToken: 'tok_bot' });
  const { id } = await invoke('fx', {}, { runId: 'run_person' });
  expect((await call(id)).ownerToken).toBeNull();
  // What an operator allowed for good in that run would hold for its calls.
  await calls.decide(id, operator, { decision: 'always' });
  const asked = { tool: 'fx', args: {}, principal: agent };
  expect(await calls.invoke({ ...asked, runId: 'run_person' })).toMatchObject({
    ok: false,
    code: 'run_not_found',
  });
});

test('[AU39] a person’s call in the run of another is refused with its owner’s name, a retry is not', async () => {
  const { connect, invoke, calls } = await setup();
  connect('phone').offer(tool('fx', { readOnlyHint: true }));
  const olga: Principal = {
    ...FIRST_OPERATOR,
    name: 'olga',
    role: 'operator',
    tokenId: 'tok_olga',
  };
  const first = await invoke('fx', {}, { principal: agent, runId: 'run_bot' });
  await invoke('fx', {}, { principal: olga, runId: 'run_olga' });
  const asked = { tool: 'fx', args: {} };
  const refused = async (principal: Principal, runId: string) => {
    const outcome = await calls.invoke({ ...asked, principal, runId });
    return outcome.ok ? 'made' : [outcome.code, outcome.message];
  };
  const conflict = (name: string) => ['conflict', expect.stringContaining(`belongs to ${name}`)];
  expect(await refused(operator, 'run_bot')).toEqual(conflict('agent:bot'));
  expect(await refused(operator, 'run_olga')).toEqual(conflict('operator:olga'));
  // Also one that a page makes in the name of its person.
  const byProgram: Principal = { kind: 'run', runId: 'run_olga', owner: operator };
  expect(await refused(byProgram, 'run_olga')).toEqual(conflict('operator:olga'));
  expect(await refused(olga, 'run_olga')).toBe('made');
  await calls.cancel(first.id, 'Over.', 'agent:bot');
  const retried = await calls.retry(first.id, operator, {});
  expect(retried).toMatchObject({ call: { requestedBy: 'operator', runId: 'run_bot' } });
});

test('[AU29] a draft of a run belongs to its owner, over a restart too', async () => {
  const { connect, calls, store } = await setup();
  connect('phone').offer(tool('fx'), tool('other'));
  const principal: Principal = { kind: 'run', runId: 'run_bot', owner: agent };
  const draft = (name: string) => calls.draft({ principal, runId: 'run_bot', tool: name });
  const allowed = await (await draft('fx')).complete({});
  expect(allowed).toMatchObject({ requestedBy: 'run:run_bot', ownerToken: 'tok_bot' });
  const refused = await (await draft('other')).complete({});
  expect(refused).toMatchObject({ status: 'FAILED', error: { code: 'denied', executed: 'no' } });
  expect(await store.getCall(allowed.id)).toMatchObject({ ownerToken: 'tok_bot' });
});
