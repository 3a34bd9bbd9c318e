import { describe, expect, test, vi } from 'vitest';
import { changed } from '#lib/call/testing/sample-call';
import { CLOCKS } from '#lib/protocol/limits';
import { appendCall } from '../store/testing/store-setup.ts';
import { registerTools } from '../tools/testing/register-tools.ts';
import { operator, reading, setupCalls, tool } from './testing/setup-calls.ts';

async function setup(options: Parameters<typeof setupCalls>[0] = {}) {
  const one = await setupCalls(options);
  /** Its instance is back, with a journal that holds nothing of before. */
  const back = async (clientId: string, epoch: string, ...tools: object[]) => {
    const client = one.connect(clientId, { claims: true, epoch });
    await client.back();
    client.offer(...tools);
    await one.settle();
    return client;
  };
  /** Clients that claim, each with its tools. */
  const claiming = (clientId: string, ...tools: object[]) => {
    const client = one.connect(clientId, { claims: true, epoch: `${clientId} 1` });
    client.offer(...tools);
    // A client that connects later was touched later.
    one.clock.advance(1);
    return client;
  };
  return { ...one, back, claiming };
}

const takes = (properties: object, required: string[] = []) => ({
  parameters: { type: 'object', properties, required, additionalProperties: false },
});
const AMOUNT = takes({ amount: { type: 'number' } }, ['amount']);
const NUMBER = takes({ n: { type: 'number' } });
const WORD = takes({ n: { type: 'string', pattern: '^[a-z]+$' } });

describe('the order', () => {
  test('[CR1] the client whose person asks is asked though it is hidden; gone or silent, the next is', async () => {
    const { claiming, invoke, table } = await setup();
    const mine = claiming('mine', tool('shot'));
    const other = claiming('other', tool('shot'));
    const ask = () => invoke('shot', {}, { fromClientId: 'mine' });
    table.update(mine.instanceId, { visible: false });
    const hidden = await ask();
    expect(mine.requests().map(({ id }) => id)).toEqual([hidden.id]);
    table.update(mine.instanceId, { responsive: false });
    const silent = await ask();
    table.update(mine.instanceId, { responsive: true });
    mine.leave();
    const disconnected = await ask();
    expect(other.requests().map(({ id }) => id)).toEqual([silent.id, hidden.id, disconnected.id]);
  });

  test('[CR1] whose person asks is part of a request, also of one that is repeated by its key', async () => {
    const { claiming, invoke } = await setup();
    claiming('mine', tool('shot'));
    const ask = (fromClientId: string) =>
      invoke('shot', {}, { idempotencyKey: 'k1', fromClientId });
    const { id } = await ask('mine');
    expect((await ask('mine')).id).toBe(id);
    await expect(ask('other')).rejects.toThrow('conflict_idempotency');
  });

  test('[CR1] whose person asked is known after a restart', async () => {
    const before = await setup();
    before.claiming('early', tool('shot'));
    before.table.update('early-instance', { responsive: false });
    const { id } = await before.invoke('shot', {}, { fromClientId: 'mine' });
    const after = await setup({ dir: before.dir });
    await after.calls.recover();
    const [mine, other] = [
      after.connect('mine', { claims: true }),
      after.connect('other', { claims: true }),
    ];
    after.clock.advance(1);
    after.table.touch(other.instanceId);
    for (const client of [mine, other]) registerTools(after.registry, client, [tool('shot')]);
    after.calls.instances.toolsChanged(other.instanceId);
    await after.settle();
    expect(mine.requests()).toMatchObject([{ id }]);
    expect(other.requests()).toEqual([]);
  });
});

describe('a client that may be asked again', () => {
  test('[CB9] costs what waits for it, and is offered that, oldest first', async () => {
    const { connect, invoke, registry, table, calls, settle } = await setup();
    const toggle = (instanceId: string, responsive: boolean) => {
      table.update(instanceId, { responsive });
      if (responsive) calls.instances.toolsChanged(instanceId);
    };
    const connected = (clientId: string, ...names: string[]) => {
      const client = connect(clientId, { claims: true });
      client.offer(...names.map((name) => tool(name)));
      return client;
    };
    const silent = connected('silent', 'shot', 'print');
    const phone = connected('phone', 'shot', 'scan', 'look');
    for (const { instanceId } of [silent, phone]) toggle(instanceId, false);
    // None of these waits for the phone: another tool, and another client's tool.
    const others = Array.from({ length: 60 }, (_, n) =>
      n % 2 === 0 ? invoke('print') : invoke('shot', {}, { clientId: 'silent' }),
    );
    const names = ['shot', 'scan', 'shot', 'look', 'shot'];
    const mine = [];
    for (const name of names) mine.push((await invoke(name)).id);
    mine.push((await invoke('scan', {}, { clientId: 'phone' })).id);
    await Promise.all(others);
    const find = vi.spyOn(registry, 'find');
    toggle(phone.instanceId, true);
    expect(phone.requests().map(({ id }) => id)).toEqual(mine);
    expect(find.mock.calls.length).toBeLessThanOrEqual(2 * mine.length);
    await settle();
  });

  test('[CB9] what was offered to a client that left goes to it, and what it no longer offers is asked about anew', async () => {
    const { claiming, invoke, calls, registry, table, settle, call } = await setup({
      check: ({ toolName }) =>
        toolName === 'pay' ? { verdict: 'ask', reason: 'It pays' } : { verdict: 'allow' },
    });
    const first = claiming('first', tool('shot'), tool('pay'));
    const offered = await invoke('shot');
    first.leave();
    const next = claiming('next', tool('shot'), tool('pay'));
    expect(next.requests()).toMatchObject([{ id: offered.id, attempt: 2 }]);
    const paying = await invoke('pay');
    claiming('last', tool('pay'));
    table.update(next.instanceId, { responsive: false });
    await calls.decide(paying.id, operator, { decision: 'yes' });
    await settle();
    expect((await call(paying.id)).phase).toBe('queued');
    registry.unregister(next.instanceId, ['pay']);
    calls.instances.toolsChanged(next.instanceId, ['pay']);
    await settle();
    expect(await call(paying.id)).toMatchObject({
      phase: 'approval',
      card: { client_id: 'last', approval_reason_code: 'changed' },
    });
  });
});

describe('what counts of a tool', () => {
  test('[CR2] a tool with effects is not offered twice because another client says that it reads', async () => {
    const { claiming, back, invoke, call, settle } = await setup();
    const paying = claiming('paying', tool('pay'));
    const looking = claiming('looking', tool('pay', reading));
    const { id } = await invoke('pay');
    expect(looking.requests()).toHaveLength(1);
    looking.leave();
    await settle();
    expect(await paying.claim(id, 2)).toMatchObject({ type: 'tool_call_granted' });
    paying.leave();
    const again = await back('paying', 'another journal', tool('pay'));
    expect(again.requests()).toEqual([]);
    expect((await call(id)).error).toMatchObject({ code: 'outcome_unknown', executed: 'unknown' });
  });

  test('[CR4] what may have started where it reads is not offered where it has effects', async () => {
    const { claiming, back, invoke, table } = await setup();
    const looking = claiming('looking', tool('pay', reading));
    const { id } = await invoke('pay', {}, { fromClientId: 'paying' });
    await looking.claim(id, 1);
    looking.leave();
    const paying = claiming('paying', tool('pay'));
    const hidden = await back('looking', 'another journal');
    table.update(hidden.instanceId, { visible: false });
    const again = await back('looking', 'another journal', tool('pay', reading));
    expect(paying.requests()).toEqual([]);
    expect(again.requests()).toMatchObject([{ id, attempt: 2 }]);
  });

  test('[CR2] the timeout of the client that is asked counts, unless the caller gave one', async () => {
    const { claiming, invoke, call, cardOf, settle } = await setup();
    const slow = claiming('slow', tool('scan', { timeout_ms: 60_000, display_name: 'Slow scan' }));
    const fast = claiming('fast', tool('scan', { timeout_ms: 1_000, display_name: 'Fast scan' }));
    const [own, given] = [await invoke('scan'), await invoke('scan', {}, { timeoutMs: 7_000 })];
    expect((await call(own.id)).timeoutMs).toBe(1_000);
    fast.leave();
    await settle();
    expect([(await call(own.id)).timeoutMs, (await call(given.id)).timeoutMs]).toEqual([
      60_000, 7_000,
    ]);
    expect(slow.requests().map(({ timeout_ms }) => timeout_ms)).toEqual([60_000, 7_000]);
    expect(cardOf(own.id)).toMatchObject({ timeout_ms: 60_000, display_name: 'Slow scan' });
  });

  test('[CR2] the time that an operator gave stays when the call is offered again', async () => {
    const { claiming, back, invoke, calls } = await setup();
    const looks = tool('look', { ...reading, timeout_ms: 1_000 });
    const phone = claiming('phone', looks);
    const { id } = await invoke('look');
    await phone.claim(id, 1);
    await calls.extend(id, operator, 5_000);
    phone.leave();
    const again = await back('phone', 'another journal', looks);
    expect(again.requests()).toMatchObject([{ id, timeout_ms: 6_000 }]);
  });

  test('[CR3] T40: clients with different schemas are no pool', async () => {
    const { claiming, invoke, settle, call } = await setup();
    const word = claiming('word', tool('say', WORD));
    const number = claiming('number', tool('say', NUMBER));
    const { id } = await invoke('say', { n: 5 });
    expect(number.requests()).toHaveLength(1);
    number.leave();
    await settle();
    expect(word.requests()).toEqual([]);
    expect((await call(id)).phase).toBe('offered');
    const named = await invoke('say@word', { n: 'five' });
    expect(word.requests()).toMatchObject([{ id: named.id, args: { n: 'five' } }]);
  });

  test('[CR3] schemas that differ in the order of keys alone are one pool', async () => {
    const { claiming, invoke, settle } = await setup();
    const { additionalProperties, ...rest } = NUMBER.parameters;
    const turned = { parameters: { additionalProperties, ...rest } };
    const one = claiming('one', tool('say', turned));
    const two = claiming('two', tool('say', NUMBER));
    const { id } = await invoke('say', { n: 5 });
    two.leave();
    await settle();
    expect(one.requests()).toMatchObject([{ id, attempt: 2 }]);
  });

  test.each([
    ['fits', takes({ n: { type: 'number' }, more: { type: 'string' } }), null],
    ['does not fit', WORD, { code: 'invalid_args', executed: 'no' }],
  ])('[CR3] a schema that changes in the queue is checked again: it %s', async (_, next, error) => {
    const { claiming, invoke, call, table, calls, settle } = await setup();
    const phone = claiming('phone', tool('say', NUMBER));
    table.update(phone.instanceId, { responsive: false });
    const { id } = await invoke('say', { n: 5 });
    phone.offer(tool('say', next));
    table.update(phone.instanceId, { responsive: true });
    calls.instances.toolsChanged(phone.instanceId);
    await settle();
    const record = await call(id);
    if (error === null) expect(phone.requests()).toMatchObject([{ id, args: { n: 5 } }]);
    else expect([record.error, phone.requests()]).toMatchObject([error, []]);
  });

  test('[CR3] T42: an offer that was not taken is checked again when its client changes the schema', async () => {
    const { claiming, invoke, call, settle } = await setup();
    const phone = claiming('phone', tool('say', NUMBER));
    const { id } = await invoke('say', { n: 5 });
    phone.offer(tool('say', WORD));
    await settle();
    expect((await call(id)).error).toMatchObject({ code: 'invalid_args', executed: 'no' });
    expect(await phone.claim(id, 1)).toMatchObject({ type: 'tool_call_refused' });
  });

  test('[CR3] over a restart a call goes to the schema that it was checked against, and to no other', async () => {
    const before = await setup();
    const asked = before.claiming('asked', tool('say', NUMBER));
    before.table.update(asked.instanceId, { responsive: false });
    const { id } = await before.invoke('say', { n: 5 });
    const after = await setup({ dir: before.dir });
    await after.calls.recover();
    const other = after.claiming('other', tool('say', takes({ n: { type: 'integer' } })));
    await after.settle();
    expect(other.requests()).toEqual([]);
    const same = after.claiming('same', tool('say', NUMBER));
    await after.settle();
    expect(same.requests()).toMatchObject([{ id }]);
  });
});

describe('approvals', () => {
  const asking = { check: () => ({ verdict: 'ask' as const, reason: 'It pays' }) };
  const yes = { decision: 'yes' as const };

  test('[CR5] the card names the client that the call would go to', async () => {
    const { claiming, invoke, cardOf, settle } = await setup(asking);
    claiming('phone', tool('pay', AMOUNT));
    const { id } = await invoke('pay', { amount: 5 });
    await settle();
    expect(cardOf(id)).toMatchObject({
      phase: 'approval',
      client_id: 'phone',
      client_name: 'phone',
    });
  });

  test('[CR5] an approved call goes to no client that came later: it is asked again', async () => {
    const { claiming, invoke, calls, cardOf, table, settle } = await setup(asking);
    const phone = claiming('phone', tool('pay', AMOUNT));
    const { id } = await invoke('pay', { amount: 5 });
    table.update(phone.instanceId, { responsive: false });
    expect(await calls.decide(id, operator, yes)).toMatchObject({ ok: true });
    const late = claiming('late', tool('pay', AMOUNT));
    await settle();
    expect([late.requests(), cardOf(id)?.phase]).toEqual([[], 'queued']);
    phone.leave();
    await settle();
    expect(late.requests()).toEqual([]);
    expect(cardOf(id)).toMatchObject({ phase: 'approval', client_id: 'late', status: 'WAIT' });
    expect(await calls.decide(id, operator, yes)).toMatchObject({ ok: true });
    await settle();
    expect(late.requests()).toMatchObject([{ id, args: { amount: 5 } }]);
  });

  test('[CR5] a yes to what has changed meanwhile does not count: it is asked again', async () => {
    const { claiming, invoke, calls, cardOf, settle } = await setup(asking);
    const phone = claiming('phone', tool('pay', AMOUNT));
    const { id } = await invoke('pay', { amount: 5 });
    phone.offer(tool('pay', { ...AMOUNT, description: 'Gives all of it away' }));
    expect(await calls.decide(id, operator, yes)).toMatchObject({ ok: false, code: 'conflict' });
    await settle();
    expect([phone.requests(), cardOf(id)?.phase]).toEqual([[], 'approval']);
    expect(cardOf(id)).toMatchObject({ approval_reason_code: 'changed' });
    expect(await calls.decide(id, operator, yes)).toMatchObject({ ok: true });
    await settle();
    expect(phone.requests()).toMatchObject([{ id }]);
  });

  test('[CR5] T41: an "always" to what has changed meanwhile allows nothing', async () => {
    const { claiming, invoke, calls, call, settle } = await setup(asking);
    const phone = claiming('phone', tool('pay', AMOUNT));
    const { id } = await invoke('pay', { amount: 5 });
    phone.offer(tool('pay', { ...AMOUNT, description: 'Gives all of it away' }));
    const always = { decision: 'always' as const };
    expect(await calls.decide(id, operator, always)).toMatchObject({ code: 'conflict' });
    const next = await invoke('pay', { amount: 5 });
    await settle();
    expect((await call(next.id)).phase).toBe('approval');
    expect(phone.requests()).toEqual([]);
  });

  test('[CR5] a yes to a question that has been asked anew since is refused', async () => {
    const { claiming, invoke, calls, call, clock, settle } = await setup(asking);
    const phone = claiming('phone', tool('pay', AMOUNT));
    const { id } = await invoke('pay', { amount: 5 });
    const shown = async () => ({
      ...yes,
      expiresAt: (await call(id)).card.clock?.deadline_at ?? 0,
    });
    const first = await shown();
    clock.advance(5);
    phone.offer(tool('pay', { ...AMOUNT, description: 'Gives all of it away' }));
    for (let time = 0; time < 2; time += 1) {
      expect(await calls.decide(id, operator, first)).toMatchObject({ code: 'conflict' });
      await settle();
    }
    expect([phone.requests(), (await call(id)).phase]).toEqual([[], 'approval']);
    expect(await calls.decide(id, operator, await shown())).toMatchObject({ ok: true });
  });

  test('[CR5] an edit for a client that has left is asked anew for the next one', async () => {
    const { claiming, invoke, calls, cardOf, settle } = await setup(asking);
    const phone = claiming('phone', tool('pay', AMOUNT));
    const { id } = await invoke('pay', { amount: 5 });
    phone.leave();
    const next = claiming('next', tool('pay', AMOUNT));
    const edited = { ...yes, args: { amount: 4 } };
    expect(await calls.decide(id, operator, edited)).toMatchObject({ code: 'conflict' });
    await settle();
    expect(next.requests()).toEqual([]);
    expect(cardOf(id)).toMatchObject({
      phase: 'approval',
      client_id: 'next',
      params: { amount: 4 },
    });
    expect(await calls.decide(id, operator, yes)).toMatchObject({ ok: true });
    await settle();
    expect(next.requests()).toMatchObject([{ id, args: { amount: 4 } }]);
  });

  test('[CR5] a schema that the waiting arguments no longer fit ends the call when it is approved', async () => {
    const { claiming, invoke, calls, call } = await setup(asking);
    const phone = claiming('phone', tool('pay', AMOUNT));
    const { id } = await invoke('pay', { amount: 5 });
    phone.offer(tool('pay', takes({ sum: { type: 'number' } }, ['sum'])));
    await calls.decide(id, operator, yes);
    expect((await call(id)).error).toMatchObject({ code: 'invalid_args', executed: 'no' });
    expect(phone.requests()).toEqual([]);
  });

  test('[CR5] T41: what was approved and not taken is not run by the same client under another description', async () => {
    const { claiming, invoke, calls, call, table, settle } = await setup(asking);
    const phone = claiming('phone', tool('pay', AMOUNT));
    const queued = await invoke('pay', { amount: 5 });
    table.update(phone.instanceId, { responsive: false });
    await calls.decide(queued.id, operator, yes);
    phone.offer(tool('pay', { ...AMOUNT, description: 'Gives all of it away' }));
    table.update(phone.instanceId, { responsive: true });
    calls.instances.toolsChanged(phone.instanceId);
    await settle();
    expect((await call(queued.id)).phase).toBe('approval');
    expect(phone.requests()).toEqual([]);
    await calls.decide(queued.id, operator, yes);
    await settle();
    expect(phone.requests()).toHaveLength(1);
    // A status never goes back: what was offered cannot be asked again, so it ends.
    phone.offer(tool('pay', { ...AMOUNT, description: 'Gives twice as much away' }));
    await settle();
    expect((await call(queued.id)).error).toMatchObject({ code: 'denied', executed: 'no' });
  });

  test('[CR5] over a restart an approval is for the client that was shown, and for no other', async () => {
    const before = await setup(asking);
    before.claiming('phone', tool('pay', AMOUNT));
    const { id } = await before.invoke('pay', { amount: 5 });
    const after = await setup({ ...asking, dir: before.dir });
    await after.calls.recover();
    const late = after.claiming('late', tool('pay', AMOUNT));
    expect(await after.calls.decide(id, operator, yes)).toMatchObject({ code: 'conflict' });
    await after.settle();
    expect(late.requests()).toEqual([]);
    expect((await after.call(id)).card).toMatchObject({ phase: 'approval', client_id: 'late' });
  });

  test('[CR5] over a restart what was approved for a client that is away waits for it alone', async () => {
    const before = await setup(asking);
    const phone = before.claiming('phone', tool('pay', AMOUNT));
    const { id } = await before.invoke('pay', { amount: 5 });
    before.table.update(phone.instanceId, { responsive: false });
    await before.calls.decide(id, operator, yes);
    const after = await setup({ ...asking, dir: before.dir });
    await after.calls.recover();
    const same = after.claiming('phone', tool('pay', AMOUNT));
    await after.settle();
    expect(same.requests()).toMatchObject([{ id }]);
  });

  test('[CR5] "always" is for that run, tool, schema and client', async () => {
    const { claiming, invoke, calls, call } = await setup(asking);
    const phone = claiming('phone', tool('pay', AMOUNT));
    const { id } = await invoke('pay', { amount: 1 });
    await calls.decide(id, operator, { decision: 'always' });
    const phaseOf = async (more: object = {}) =>
      (await call((await invoke('pay', { amount: 2 }, more)).id)).phase;
    expect(await phaseOf()).toBe('offered');
    claiming('laptop', tool('pay', AMOUNT));
    expect(await phaseOf()).toBe('approval');
    expect(await phaseOf({ fromClientId: 'phone' })).toBe('offered');
    phone.offer(tool('pay', takes({ amount: { type: 'integer' } })));
    expect(await phaseOf({ clientId: 'phone' })).toBe('approval');
  });

  test('[CR7] a card shows the arguments that were approved, and no others', async () => {
    const { claiming, invoke, calls, cardOf, call, settle } = await setup(asking);
    const phone = claiming('phone', tool('pay'));
    const { id } = await invoke('pay', { to: 'Ann', amount: 5, memo: 'hidden' });
    await calls.decide(id, operator, { ...yes, args: { to: 'Ann', amount: 4 } });
    await settle();
    const sent = { to: 'Ann', amount: 4 };
    expect(phone.requests()).toMatchObject([{ args: sent }]);
    expect([cardOf(id)?.params, (await call(id)).card.params]).toEqual([sent, sent]);
  });
});

describe('one write', () => {
  const asking = { check: () => ({ verdict: 'ask' as const, reason: 'It computes' }) };

  test('[CR6] a yes and the start of a server tool are one write: a crash in between loses nothing', async () => {
    const before = await setup(asking);
    const { id } = await before.invoke('hold', { accepting: 'approved' });
    const { write } = before.store;
    let writes = 0;
    // The disk takes what is written first, and the process dies of the next.
    before.store.write = (changes) => {
      writes += changes.length > 0 ? 1 : 0;
      return writes > 1 ? new Promise(() => {}) : write(changes);
    };
    await before.calls.decide(id, operator, { decision: 'yes' });
    const after = await setup({ dir: before.dir });
    await after.calls.recover();
    await after.settle();
    after.releaseAll();
    expect(await after.calls.wait(id, 5_000)).toMatchObject({
      status: 'SUCCEEDED',
      result: 'approved',
    });
  });

  test('[CR6] a server tool that is found queued at the start is run', async () => {
    const before = await setup();
    const { id } = await before.invoke('hold', { accepting: 'found' });
    const record = await before.call(id);
    const deadlines = { queue: before.clock.now() + 30_000 };
    const queued = { status: 'PENDING', phase: 'queued', granted: false, deadlines } as const;
    await before.store.write([
      appendCall(changed(record, { ...queued, version: record.version + 1 })),
    ]);
    const after = await setup({ dir: before.dir });
    await after.calls.recover();
    await after.settle();
    after.releaseAll();
    expect(await after.calls.wait(id, 5_000)).toMatchObject({ result: 'found' });
  });
});

describe('what a client reports beside the arguments', () => {
  test('[CR7] a status changes no argument on the card, and is shown beside them', async () => {
    const { connect, invoke, cardOf, calls, settle } = await setup();
    const phone = connect('phone');
    phone.offer(tool('pay'));
    const { id } = await invoke('pay', { to: 'Ann', amount: 5 });
    phone.status({ type: 'tool_status', id, params: { amount: 1, lens: 'wide' } });
    phone.status({ type: 'tool_status', id, params: { lens: 'tele' } });
    await settle();
    expect(cardOf(id)).toMatchObject({
      params: { to: 'Ann', amount: 5, lens: 'tele' },
      argument_names: ['to', 'amount'],
      status_params: { amount: 1, lens: 'tele' },
    });
    expect(calls.watched().at(-1)?.card).toEqual(cardOf(id));
  });
});

test('[CR7] what a client reports over all its statuses is bounded', async () => {
  const { connect, invoke, cardOf, settle } = await setup();
  const phone = connect('phone');
  phone.offer(tool('pay'));
  const { id } = await invoke('pay', { to: 'Ann' });
  for (let n = 0; n < 50; n += 1) {
    phone.status({ type: 'tool_status', id, params: { [`key_${n}`]: 'x'.repeat(1_000) } });
  }
  await settle();
  const card = cardOf(id);
  expect(card?.params).toMatchObject({ to: 'Ann', key_0: expect.any(String) });
  expect(JSON.stringify(card?.status_params).length).toBeLessThan(16 * 1024);
  expect(JSON.stringify(card).length).toBeLessThan(40 * 1024);
});

test('[CR7] beside long arguments what a client reports is not among them', async () => {
  const { connect, invoke, cardOf, settle, dir } = await setup();
  const phone = connect('phone', { claims: true, epoch: 'phone 1' });
  phone.offer(tool('pay'));
  const args = { memo: 'm'.repeat(10_000) };
  const { id } = await invoke('pay', args);
  await phone.claim(id, 1);
  phone.status({ type: 'tool_status', id, attempt: 1, params: { log: 'l'.repeat(10_000) } });
  await settle();
  const card = cardOf(id);
  expect(card).toMatchObject({ params: args, status_params: { log: expect.any(String) } });
  expect(card?.params).toEqual(args);
  const after = await setup({ dir });
  await after.calls.recover();
  await after.settle();
  expect(after.calls.watched()).toMatchObject([{ id, card: { params: args } }]);
});

test('[CR3] a call that no client may take ends by its queue clock', async () => {
  const { claiming, invoke, call, clock, settle } = await setup();
  const number = claiming('number', tool('say', NUMBER));
  const { id } = await invoke('say', { n: 5 });
  claiming('word', tool('say', WORD));
  number.leave();
  clock.advance(CLOCKS.queueMs);
  await settle();
  expect((await call(id)).error).toMatchObject({ code: 'timeout', executed: 'no' });
});
