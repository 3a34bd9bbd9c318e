import { describe, expect, test } from 'vitest';
import { mergeCard } from '#lib/call/merge-card';
import type { Card } from '#lib/protocol/card';
import { CLOCKS } from '#lib/protocol/limits';
import { operator, reading, setupCalls, tool } from './testing/setup-calls.ts';

test('[CA24] an id of a call that is as old as those that were deleted is said to be deleted', async () => {
  const { calls, store } = await setupCalls();
  expect(calls.wasDeleted('tc_500')).toBe(false);
  await store.write([{ type: 'delete_calls', ids: ['tc_400'], endedAt: 1_000 }]);
  expect(['tc_500', 'tc_1001', 'tc_chosen'].map((id) => calls.wasDeleted(id))).toEqual([
    true,
    false,
    false,
  ]);
});

describe('an accepted call', () => {
  test('[AU37] is one write with what tells of it, and a refused one leaves neither', async () => {
    const { calls, store, connect } = await setupCalls();
    connect('phone').offer(tool('camera'));
    const written: string[][] = [];
    const { write } = store;
    store.write = (changes, options) => {
      written.push(changes.map(({ type }) => type));
      return write(changes, options);
    };
    const entry = { seq: 1, at: 1, actor: 'operator', tokenId: null, address: '::1', detail: {} };
    const together = ({ id }: { id: string }) =>
      ({ type: 'append_audit', entry: { ...entry, act: 'tool_called', target: id } }) as const;
    const asked = { principal: operator, runId: 'run_1', args: {}, together };
    const refused = await calls.invoke({ ...asked, tool: 'none' });
    const made = await calls.invoke({ ...asked, tool: 'camera' });
    expect([refused.ok, made.ok]).toEqual([false, true]);
    expect(written.filter((types) => types.includes('append_audit'))).toEqual([
      ['append_call', 'append_call', 'append_audit'],
    ]);
    const { entries } = await store.listAudit({ limit: 5 });
    expect(entries.map(({ target }) => target)).toEqual([made.ok && made.call.id]);
  });

  test('[CA1] is on disk before its id is told to the caller or to a client', async () => {
    const { connect, invoke, store } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('camera'));
    const call = await invoke('camera', { quality: 'low' });
    expect(await store.getCall(call.id)).toMatchObject({
      status: 'RUNNING',
      args: { quality: 'low' },
    });
    expect(phone.requests()).toHaveLength(1);
  });

  test('[CA1] an answer is on disk before it is acknowledged', async () => {
    const { connect, invoke, store } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('camera'));
    const { id } = await invoke('camera');
    expect(await phone.succeed(id, null)).toMatchObject({ disposition: 'accepted' });
    expect(await store.getCall(id)).toMatchObject({ status: 'SUCCEEDED', result: null });
  });

  test('[CA2] a watcher who saw every update has the card that a snapshot shows', async () => {
    const { connect, invoke, calls, cardOf, settle } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('camera'));
    const { id } = await invoke('camera', { a: 1 });
    phone.status({ type: 'tool_status', id, tip: 'Focusing', progress: { done: 2, total: 4 } });
    phone.status({ type: 'tool_status', id, params: { lens: 'wide' }, progress: { done: 1 } });
    await settle();
    expect(calls.watched().at(-1)?.card).toEqual(cardOf(id));
    await phone.succeed(id, 'a photo');
    await settle();
    expect(cardOf(id)).toMatchObject({
      status: 'SUCCESS',
      tip: 'Focusing',
      params: { a: 1, lens: 'wide' },
      progress: { done: 2, total: 4 },
      result: 'a photo',
    });
    expect(calls.watched().at(-1)?.card).toEqual(cardOf(id));
  });

  test('[CA20] no update and no card has a value over 16 KiB; the record has the whole', async () => {
    const one = await setupCalls();
    const phone = one.connect('phone');
    phone.offer(tool('camera'));
    const large = (what: string) => ({ [what]: 'é'.repeat(30_000), end: what });
    const draft = await one.calls.draft({
      principal: { kind: 'run', runId: 'run_1', owner: operator },
      runId: 'run_1',
      tool: 'camera',
    });
    const { args } = large('args');
    draft.update({ args });
    draft.update({ end: 'args' });
    await one.settle();
    expect(one.cardOf(draft.callId)).toMatchObject({
      truncated: true,
      params: { args: expect.stringMatching(/^…é+$/), end: 'args' },
    });
    const { id } = await draft.complete(large('args'));
    phone.status({ type: 'tool_status', id, preview: large('preview'), tip: 'x'.repeat(2_000) });
    await one.settle();
    const running = await one.call(id);
    expect(running).toMatchObject({ args: large('args'), preview: large('preview') });
    await phone.show(id, 'for the model', large('display'));
    await one.settle();
    const ended = await one.call(id);
    expect(ended).toMatchObject({ result: 'for the model', display: large('display') });
    expect(ended.card).toEqual(one.cardOf(id));
    expect(ended.card).toMatchObject({ result: { end: 'display' }, result_bytes: 60_030 });
    for (const event of one.events) {
      expect(JSON.stringify(event).length).toBeLessThan(16 * 1024);
    }

    const other = await one.invoke('camera');
    await phone.fail(other.id, 'no '.repeat(20_000));
    await one.settle();
    expect((await one.call(other.id)).error?.message).toHaveLength(60_000);
    expect(one.cardOf(other.id)).toMatchObject({ truncated: true, error: { code: 'tool_error' } });
    expect(JSON.stringify(one.events.at(-1)).length).toBeLessThan(16 * 1024);

    await one.close();
    const again = await setupCalls({ dir: one.dir });
    await again.calls.recover();
    expect(await again.call(id)).toEqual(ended);
    expect(again.calls.watched().find((call) => call.id === id)?.card).toEqual(ended.card);
  });

  test('[CA3] a refused request says why and leaves no call', async () => {
    const { connect, calls } = await setupCalls();
    connect('phone').offer(
      tool('camera', {
        parameters: {
          type: 'object',
          properties: { flag: { type: 'boolean' } },
          required: ['flag'],
        },
      }),
    );
    const ask = (name: string, args: unknown) =>
      calls.invoke({ principal: operator, tool: name, runId: 'run_1', args });
    expect(await ask('camera', { flag: 'perhaps' })).toMatchObject({
      ok: false,
      code: 'invalid_args',
      details: [{ path: expect.stringContaining('flag') }],
    });
    expect(await ask('camera', null)).toMatchObject({
      code: 'invalid_args',
      details: [{ path: '', problem: 'must be an object, was null' }],
    });
    expect(await ask('nothing', {})).toMatchObject({ ok: false, code: 'tool_not_found' });
    expect(await ask('camera@laptop', { flag: true })).toMatchObject({ code: 'no_provider' });
    expect((await calls.list({ limit: 10 })).calls).toEqual([]);
  });

  test('[CA4] one key is one call, also when both come at once', async () => {
    const { connect, calls } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('pay'));
    const ask = (args: object) =>
      calls.invoke({ principal: operator, tool: 'pay', runId: 'run_1', args, idempotencyKey: 'k' });
    const [first, second] = await Promise.all([ask({ n: 1 }), ask({ n: 1 })]);
    const third = await ask({ n: 1 });
    const ids = [first, second, third].map((one) => one.ok && one.call.id);
    expect(new Set(ids).size).toBe(1);
    expect([first, second, third].map((one) => one.ok && one.isRepeat)).toEqual([
      ...[undefined, true, true],
    ]);
    expect(phone.requests()).toHaveLength(1);
    expect(await ask({ n: 2 })).toMatchObject({ ok: false, code: 'conflict_idempotency' });
  });

  test('[CA5] goes to one client, with mended arguments', async () => {
    const { connect, invoke } = await setupCalls();
    const spec = tool('camera', {
      parameters: { type: 'object', properties: { flag: { type: 'boolean' } } },
    });
    const [phone, laptop] = [connect('phone'), connect('laptop')];
    phone.offer(spec);
    laptop.offer(spec);
    await invoke('camera@phone', { flag: 'true' });
    expect(phone.requests()).toMatchObject([{ args: { flag: true }, attempt: 1, run_id: 'run_1' }]);
    expect(laptop.requests()).toEqual([]);
  });
});

describe('answers', () => {
  test('[CA6] of late answers an output is kept rather than that the tool was stopped', async () => {
    const { connect, invoke, call, clock, settle, cardOf } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('camera', { timeout_ms: 300 }));
    const { id } = await invoke('camera');
    clock.advance(300);
    await settle();
    expect(await phone.fail(id, 'stopped', 'cancelled')).toMatchObject({ disposition: 'late' });
    await settle();
    expect((await call(id)).lateResult).toMatchObject({ error: { code: 'cancelled' } });
    expect(cardOf(id)).not.toHaveProperty('late_result');
    for (const _ of ['at first', 'once more']) {
      expect(await phone.succeed(id, 'done')).toMatchObject({ disposition: 'late' });
    }
    expect(await phone.succeed(id, 'another')).toMatchObject({ code: 'conflict', final: true });
    expect(await phone.fail(id, 'stopped', 'cancelled')).toMatchObject({ disposition: 'late' });
    await settle();
    expect((await call(id)).lateResult).toBe('done');
    expect(cardOf(id)).toMatchObject({ late_result: true });
  });

  test('[CA6] T34: no other client may answer, and none may answer what is not there', async () => {
    const { connect, invoke } = await setupCalls();
    const [phone, laptop] = [connect('phone', { claims: true }), connect('laptop')];
    phone.offer(tool('camera'));
    const { id } = await invoke('camera');
    expect(await laptop.succeed(id, 'forged')).toMatchObject({ code: 'not_your_call' });
    expect(await laptop.claim(id, 1)).toMatchObject({ type: 'tool_call_refused' });
    expect(await laptop.succeed('tc_none', 1)).toMatchObject({ code: 'unknown_call', final: true });
  });

  test('[CA6] of a claiming client an answer before the grant, and of an old attempt, are refused', async () => {
    const { connect, invoke, clock, settle } = await setupCalls();
    const phone = connect('phone', { claims: true });
    phone.offer(tool('camera'));
    const { id } = await invoke('camera');
    expect(await phone.succeed(id, 1, 1)).toMatchObject({ code: 'not_granted' });
    clock.advance(CLOCKS.startMs);
    await settle();
    expect(phone.requests().map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await phone.succeed(id, 1, 1)).toMatchObject({ code: 'stale_attempt' });
    expect(await phone.claim(id, 1)).toMatchObject({ type: 'tool_call_refused' });
    expect(await phone.claim(id, 2)).toMatchObject({ type: 'tool_call_granted' });
    expect(await phone.succeed(id, 1, 2)).toMatchObject({ disposition: 'accepted' });
  });
});

describe('clocks', () => {
  test('[CA7] a call nobody answers times out, its client is told, its late claim refused', async () => {
    const { connect, invoke, call, clock, settle } = await setupCalls();
    const phone = connect('phone', { claims: true });
    phone.offer(tool('camera', { timeout_ms: 400 }));
    const { id } = await invoke('camera');
    expect(await phone.claim(id, 1)).toMatchObject({ remaining_ms: 400 });
    clock.advance(400);
    await settle();
    expect(await call(id)).toMatchObject({
      status: 'TIMEOUT',
      error: { code: 'timeout', clock: 'execute', executed: 'unknown' },
    });
    expect(phone.inbox.at(-1)).toMatchObject({ type: 'tool_call_cancel', id });
    expect(await phone.claim(id, 1)).toMatchObject({ type: 'tool_call_refused' });
  });

  test('[CA16] the card of an offered call shows the start clock, each time anew, and the queue clock once that ends sooner', async () => {
    const { connect, invoke, clock, settle, cardOf } = await setupCalls();
    const phone = connect('phone', { claims: true });
    phone.offer(tool('camera'));
    const { id } = await invoke('camera');
    await settle();
    const began = clock.now();
    const seen: string[] = [];
    for (let waited = 0; waited < CLOCKS.queueMs; waited += CLOCKS.startMs) {
      const shown = cardOf(id)?.clock;
      seen.push(`${shown?.name} ${(shown?.deadline_at ?? 0) * 1_000 - began}`);
      clock.advance(CLOCKS.startMs);
      await settle();
    }
    expect(seen).toEqual([
      ...[5_000, 10_000, 15_000, 20_000, 25_000].map((ms) => `start ${ms}`),
      'queue 30000',
    ]);
  });

  test('[CA16] a call that only one client may take names it while it waits', async () => {
    const { connect, invoke, cardOf, settle, table } = await setupCalls();
    const [phone, laptop] = [connect('phone', { claims: true }), connect('laptop')];
    for (const client of [phone, laptop]) client.offer(tool('camera'));
    table.update(phone.instanceId, { responsive: false });
    const { id } = await invoke('camera', {}, { clientId: 'phone' });
    await settle();
    expect(cardOf(id)).toMatchObject({ phase: 'queued', client_id: 'phone', client_name: 'phone' });
    const { id: free } = await invoke('camera');
    await settle();
    expect(cardOf(free)).toMatchObject({ phase: 'offered', client_id: 'laptop' });
  });

  test('[CA10] a client that is busy with the tool keeps its turn', async () => {
    const { connect, invoke, clock, settle } = await setupCalls();
    const phone = connect('phone', { claims: true });
    phone.offer(tool('camera'));
    const [first, second] = [await invoke('camera'), await invoke('camera')];
    await phone.claim(first.id, 1);
    clock.advance(CLOCKS.startMs * 3);
    await settle();
    expect(phone.requests()).toHaveLength(2);
    expect(await phone.claim(second.id, 1)).toMatchObject({ type: 'tool_call_granted' });
  });

  test('[CB5] the execute clock stands still while the person at the device is asked', async () => {
    const { connect, invoke, call, clock, settle, cardOf } = await setupCalls();
    const phone = connect('phone', { claims: true });
    phone.offer(tool('camera', { timeout_ms: 1_000 }));
    const { id } = await invoke('camera');
    await phone.claim(id, 1);
    clock.advance(400);
    phone.status({ type: 'tool_status', id, phase: 'device' });
    await settle();
    expect(cardOf(id)).toMatchObject({
      phase: 'device',
      clock: { deadline_at: null, remaining_ms: 600 },
    });
    clock.advance(60_000);
    phone.status({ type: 'tool_status', id, phase: 'granted' });
    clock.advance(599);
    await settle();
    expect((await call(id)).status).toBe('RUNNING');
    clock.advance(1);
    await settle();
    expect((await call(id)).status).toBe('TIMEOUT');
  });
});

describe('people', () => {
  const asking = { check: () => ({ verdict: 'ask' as const, reason: 'It takes pictures' }) };

  test('[CA8] nothing runs without a yes', async () => {
    const { connect, invoke, calls, cardOf, settle } = await setupCalls(asking);
    const phone = connect('phone');
    phone.offer(tool('camera'));
    const { id } = await invoke('camera');
    await settle();
    expect(phone.requests()).toEqual([]);
    expect(cardOf(id)).toMatchObject({ phase: 'approval', approval_reason: 'It takes pictures' });
    await calls.decide(id, operator, { decision: 'yes', args: { quality: 'low' } });
    await settle();
    expect(phone.requests()).toMatchObject([{ args: { quality: 'low' } }]);
  });

  test('[CA8] a no and the clock end it, and cannot be taken back', async () => {
    const { connect, invoke, calls, call, clock, settle } = await setupCalls(asking);
    connect('phone').offer(tool('camera'));
    const [denied, expired] = [await invoke('camera'), await invoke('camera', { n: 2 })];
    await calls.decide(denied.id, operator, { decision: 'no', note: 'not now' });
    clock.advance(CLOCKS.approvalMs);
    await settle();
    expect((await call(denied.id)).error).toMatchObject({ code: 'denied', executed: 'no' });
    expect((await call(denied.id)).error?.message).toContain('not now');
    expect((await call(expired.id)).error).toMatchObject({ code: 'approval_expired' });
    expect(await calls.decide(denied.id, operator, { decision: 'yes' })).toMatchObject({
      code: 'already_final',
      params: { status: 'FAILED', by: 'operator', decision: 'no' },
    });
  });

  test('[CA12] T82: of a yes and a no at one moment the second is refused', async () => {
    const { connect, invoke, calls, cardOf, settle } = await setupCalls(asking);
    connect('phone').offer(tool('camera'));
    const { id } = await invoke('camera');
    const answers = await Promise.all([
      calls.decide(id, operator, { decision: 'yes' }),
      calls.decide(id, operator, { decision: 'no' }),
    ]);
    await settle();
    expect(answers).toMatchObject([{ ok: true }, { ok: false, code: 'conflict' }]);
    expect(cardOf(id)?.phase).toBe('offered');
  });

  test('[CA8] an edit that does not fit is refused with the place and the reason', async () => {
    const { connect, invoke, calls } = await setupCalls(asking);
    const parameters = { type: 'object', properties: { edge: { type: 'integer' } } };
    connect('phone').offer(tool('camera', { parameters }));
    const { id } = await invoke('camera');
    expect(
      await calls.decide(id, operator, { decision: 'yes', args: { edge: 'wide' } }),
    ).toMatchObject({
      code: 'invalid_args',
      message: 'The arguments do not fit camera: edge must be integer, was the text "wide"',
      details: [{ path: 'edge' }],
    });
  });

  test('[CA9] cancelling a server tool aborts it and ends the waiting', async () => {
    const { invoke, calls } = await setupCalls();
    const { id } = await invoke('hold');
    const waiting = calls.wait(id, 30_000);
    expect(
      await calls.cancel(id, 'Cancelled by the operator', 'operator', 'operator:olga'),
    ).toMatchObject({
      ok: true,
    });
    expect(await waiting).toMatchObject({
      status: 'FAILED',
      error: { code: 'cancelled' },
      card: { cancelled_by: 'operator:olga' },
    });
    expect(await calls.cancel(id, 'again', 'operator')).toMatchObject({
      ok: false,
      code: 'already_final',
    });
  });

  test('each event has who caused it', async () => {
    const { invoke, calls, settle, store, connect } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('camera'));
    const { id } = await invoke('camera');
    phone.status({ type: 'tool_status', id, tip: 'Focusing' });
    await settle();
    await calls.extend(id, operator, 1_000);
    await calls.cancel(id, 'enough', 'run:run_1');
    await phone.fail(id, 'stopped', 'cancelled');
    const events = await store.callEvents(id, { after: 0, limit: 10 });
    expect(events.map(({ type, actor }) => `${type} ${actor}`)).toEqual([
      'created operator',
      'offered server',
      'status client:phone',
      'extended operator',
      'cancelled run:run_1',
      'answered client:phone',
    ]);
  });

  test('[CA9] a running call at a client is asked to stop, and ends within the grace', async () => {
    const { connect, invoke, calls, call, clock, settle } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('camera'));
    const { id } = await invoke('camera');
    await calls.cancel(id, 'Cancelled by the operator', 'operator');
    expect(phone.inbox.at(-1)).toMatchObject({ type: 'tool_call_cancel', id });
    expect((await call(id)).phase).toBe('cancelling');
    clock.advance(CLOCKS.cancelMs);
    await settle();
    expect((await call(id)).error).toMatchObject({ code: 'cancelled', executed: 'unknown' });
  });

  test('an operator may give more time, retry, and answer by hand', async () => {
    const { connect, invoke, calls, call, clock, settle } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('camera', { timeout_ms: 1_000 }));
    const { id } = await invoke('camera', { a: 1 });
    await calls.extend(id, operator, 5_000);
    clock.advance(5_999);
    await settle();
    expect((await call(id)).status).toBe('RUNNING');
    expect(await calls.answer(id, operator, 'by hand')).toMatchObject({ ok: true });
    expect(await call(id)).toMatchObject({ status: 'SUCCEEDED', result: 'by hand' });
    const again = await calls.retry(id, operator);
    expect(again).toMatchObject({ ok: true, call: { retryOf: id, args: { a: 1 } } });
  });

  test('[CA4] a retry with one key is one call; another retry or an invoke with it is refused', async () => {
    const { connect, invoke, calls } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('pay'));
    const ended: string[] = [];
    for (const n of [1, 2]) {
      const { id } = await invoke('pay', { n });
      await phone.succeed(id, 'paid');
      ended.push(id);
    }
    const [id = '', other = ''] = ended;
    const idempotencyKey = 'k';
    const retry = (of: string, args?: object) =>
      calls.retry(of, operator, { idempotencyKey, ...(args && { args }) });
    const [first, second] = await Promise.all([retry(id), retry(id)]);
    const ids = [first, second, await retry(id)].map((one) => one.ok && one.call.id);
    expect(new Set(ids).size).toBe(1);
    expect(phone.requests()).toHaveLength(3);
    const refused = { ok: false, code: 'conflict_idempotency' };
    expect(await retry(id, { n: 3 })).toMatchObject(refused);
    expect(await calls.retry(id, operator, { args: null })).toMatchObject({ code: 'invalid_args' });
    expect(await retry(other, { n: 1 })).toMatchObject(refused);
    const request = { principal: operator, tool: 'pay', runId: 'run_1', args: { n: 1 } };
    expect(await calls.invoke({ ...request, idempotencyKey })).toMatchObject(refused);
  });
});

describe('clients that go and come back', () => {
  test('[CB1] what nobody has started goes to another client at once', async () => {
    const { connect, invoke, settle } = await setupCalls();
    const phone = connect('phone', { claims: true });
    phone.offer(tool('camera'));
    const { id } = await invoke('camera');
    const laptop = connect('laptop', { claims: true });
    laptop.offer(tool('camera'));
    phone.leave();
    await settle();
    expect(laptop.requests()).toMatchObject([{ id, attempt: 2 }]);
  });

  test('[CB2] a granted call waits for its client and takes its answer', async () => {
    const { connect, invoke, clock, call } = await setupCalls();
    const phone = connect('phone', { claims: true, epoch: 'e1' });
    phone.offer(tool('pay', { timeout_ms: 60_000 }));
    const { id } = await invoke('pay');
    await phone.claim(id, 1);
    phone.leave();
    clock.advance(8_000);
    const back = connect('phone', { claims: true, epoch: 'e1' });
    const known = [{ id, attempt: 1, phase: 'done' as const }];
    await back.back(known);
    back.offer(tool('pay'));
    expect(await back.succeed(id, 'paid', 1)).toMatchObject({ disposition: 'accepted' });
    expect((await call(id)).result).toBe('paid');
    expect(back.requests()).toEqual([]);
  });

  test('[CB6] a claim that comes twice is granted twice, and not once its call has ended', async () => {
    const { connect, invoke } = await setupCalls();
    const phone = connect('phone', { claims: true, epoch: 'e1' });
    phone.offer(tool('pay'));
    const { id } = await invoke('pay');
    for (let time = 0; time < 2; time += 1) {
      expect(await phone.claim(id, 1)).toMatchObject({ type: 'tool_call_granted', attempt: 1 });
    }
    expect(await phone.claim(id, 2)).toMatchObject({ reason: 'stale_attempt' });
    await phone.succeed(id, 'paid', 1);
    expect(await phone.claim(id, 1)).toMatchObject({ reason: 'already_final' });
  });

  test('[CB7] an older attempt that a client knows of takes the newer one from no other tab', async () => {
    const { connect, invoke, settle, call } = await setupCalls();
    const one = connect('laptop', { claims: true, epoch: 'e1' });
    one.offer(tool('pay'));
    const { id } = await invoke('pay');
    const other = connect('laptop', { claims: true, epoch: 'e2', instanceId: 'other-tab' });
    other.offer(tool('pay'));
    one.leave();
    await settle();
    await other.claim(id, 2);
    const known = [{ id, attempt: 1, phase: 'running' as const }];
    expect(await one.back(known)).toMatchObject({ cancel: [id] });
    expect((await call(id)).provider).toMatchObject({ instanceId: 'other-tab', attempt: 2 });
    expect(await other.succeed(id, 'paid', 2)).toMatchObject({ disposition: 'accepted' });
  });

  test('[CB7] a client that missed the grant of its newer attempt is asked again', async () => {
    const { connect, invoke, settle } = await setupCalls();
    let phone = connect('phone', { claims: true, epoch: 'e1' });
    phone.offer(tool('pay', { timeout_ms: 60_000 }));
    const { id } = await invoke('pay');
    for (const attempt of [1, 2]) {
      await phone.claim(id, attempt);
      phone.leave();
      phone = connect('phone', { claims: true, epoch: 'e1' });
      // It never heard of the second grant, and runs the first attempt.
      await phone.back(attempt === 1 ? [] : [{ id, attempt: 1, phase: 'running' }]);
      phone.offer(tool('pay', { timeout_ms: 60_000 }));
      await settle();
      expect(phone.requests()).toMatchObject([{ id, attempt: attempt + 1 }]);
    }
  });

  test('[CB8] what another client has taken meanwhile is not offered again', async () => {
    const { connect, invoke, call, clock, settle } = await setupCalls();
    const claiming = (name: string) => connect(name, { claims: true, epoch: `${name}-epoch` });
    const phone = claiming('phone');
    phone.offer(tool('look', reading));
    const { id } = await invoke('look');
    await settle();
    phone.leave();
    const back = claiming('phone');
    await back.back();
    const tablet = claiming('tablet');
    tablet.offer(tool('look', reading));
    clock.advance(CLOCKS.startMs);
    await tablet.claim(id, 2);
    back.offer(tool('look', reading));
    await settle();
    expect([tablet.requests().length, back.requests()]).toEqual([1, []]);
    expect(await call(id)).toMatchObject({ phase: 'granted', provider: { attempt: 2 } });
  });

  test('[CB2] what died in the middle is unknown; what an intact journal does not hold is offered again', async () => {
    const { connect, invoke, call, settle } = await setupCalls();
    const phone = connect('phone', { claims: true, epoch: 'e1' });
    phone.offer(tool('pay', { timeout_ms: 60_000 }));
    const [died, never] = [await invoke('pay'), await invoke('pay')];
    await phone.claim(died.id, 1);
    await phone.claim(never.id, 1);
    phone.leave();
    const back = connect('phone', { claims: true, epoch: 'e1' });
    const known = [{ id: died.id, attempt: 1, phase: 'started' as const }];
    await back.back(known);
    back.offer(tool('pay'));
    await settle();
    expect((await call(died.id)).error).toMatchObject({
      code: 'outcome_unknown',
      executed: 'unknown',
    });
    expect(back.requests()).toMatchObject([{ id: never.id, attempt: 2 }]);
    const reply = await back.fail(died.id, 'It had started', 'outcome_unknown');
    expect(reply).toMatchObject({ disposition: 'late' });
    const { card, lateResult } = await call(died.id);
    // People are told of late answers that say something, and this one says the same again.
    expect([card.late_result, lateResult]).toEqual([
      undefined,
      { error: expect.objectContaining({ code: 'outcome_unknown' }) },
    ]);
  });

  test('[CB3] a plain client is asked again only what reads, and its first answer counts', async () => {
    const { connect, invoke, settle } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('pay'), tool('look', reading));
    const [pay, look] = [await invoke('pay'), await invoke('look')];
    phone.leave();
    const back = connect('phone');
    await back.back();
    back.offer(tool('pay'), tool('look', reading));
    await settle();
    expect(back.requests()).toMatchObject([{ id: look.id, attempt: 2 }]);
    expect(await back.succeed(pay.id, 'paid once', 1)).toMatchObject({ disposition: 'accepted' });
  });

  test.each([
    ['that was never granted', false],
    ['whose grant was lost with the connection', true],
  ])('[CB8] a client that is back starts a call %s once, under the new attempt', async (_, was) => {
    const { connect, invoke, settle } = await setupCalls();
    const first = connect('phone', { claims: true, epoch: 'e' });
    first.offer(tool('pay'));
    const { id } = await invoke('pay');
    if (was) await first.claim(id, 1);
    first.leave();
    const back = connect('phone', { claims: true, epoch: 'e' });
    await back.back();
    expect(await back.claim(id, 1)).toMatchObject({ type: 'tool_call_refused' });
    back.offer(tool('pay'));
    await settle();
    expect(back.requests()).toMatchObject([{ id, attempt: 2 }]);
    expect(await back.claim(id, 2)).toMatchObject({ type: 'tool_call_granted', attempt: 2 });
    expect(await back.succeed(id, 'paid once', 2)).toMatchObject({ disposition: 'accepted' });
  });
});

describe('after a crash', () => {
  test.each([
    ['read', 'RUNNING'],
    ['write', 'FAILED'],
  ] as const)('[CB4] a server tool that was running: %s → %s', async (effect, status) => {
    const before = await setupCalls({ effect });
    const { id } = await before.invoke('hold', { accepting: 'once more' });
    const { dir } = before;
    // A second one on the same file, as after a kill: the first one never said good-bye.
    const after = await setupCalls({ dir, effect });
    await after.calls.recover();
    await after.settle();
    expect((await after.call(id)).status).toBe(status);
    if (effect === 'write') {
      expect((await after.call(id)).error).toMatchObject({
        code: 'interrupted',
        executed: 'unknown',
      });
    } else {
      after.releaseAll();
      expect(await after.calls.wait(id, 5_000)).toMatchObject({ result: 'once more' });
    }
  });

  test('[CB4] a server tool that ends because the server stops ends no call: the next start runs it again', async () => {
    const before = await setupCalls();
    const { id } = await before.invoke('hold', { accepting: 'once more' });
    before.calls.stop();
    await before.settle();
    expect(await before.store.getCall(id)).toMatchObject({ status: 'RUNNING' });
    await before.close();
    const after = await setupCalls({ dir: before.dir });
    expect(await after.calls.recover()).toMatchObject({ open: 1, interrupted: 0 });
    await after.settle();
    after.releaseAll();
    expect(await after.calls.wait(id, 5_000)).toMatchObject({ result: 'once more' });
  });

  test('[CB4] a call at a client waits for it, and is offered again when it comes back', async () => {
    const before = await setupCalls();
    const phone = before.connect('phone');
    phone.offer(tool('look', reading));
    const { id } = await before.invoke('look');
    const after = await setupCalls({ dir: before.dir });
    expect(await after.calls.recover()).toMatchObject({ open: 1, interrupted: 0 });
    const back = after.connect('phone');
    await back.back();
    back.offer(tool('look', reading));
    await after.settle();
    expect(back.requests()).toMatchObject([{ id, attempt: 2 }]);
  });
});

describe('drafts', () => {
  const principal = { kind: 'run', runId: 'run_1', owner: operator } as const;
  const request = { principal, runId: 'run_1' };

  test('[CC1] a draft shows its arguments as they come and becomes the call it announced', async () => {
    const { connect, calls, cardOf, settle } = await setupCalls();
    const phone = connect('phone');
    phone.offer(tool('camera'));
    const draft = await calls.draft({ ...request, tool: 'camera' });
    draft.update({ quality: 'lo' });
    await settle();
    expect(cardOf(draft.callId)).toMatchObject({
      status: 'WAIT',
      phase: 'streaming',
      partial: true,
      params: { quality: 'lo' },
    });
    const call = await draft.complete({ quality: 'low' });
    expect(call.id).toBe(draft.callId);
    expect(phone.requests()).toMatchObject([{ id: draft.callId, args: { quality: 'low' } }]);
    await settle();
    expect(cardOf(draft.callId)).toMatchObject({ partial: false, params: { quality: 'low' } });
  });

  test.each([
    ['cancelled', { params_bytes: 40_011, truncated: true }],
    ['completed', { params_bytes: 40_011, truncated: true }],
    ['completed with less', { params_bytes: null, truncated: false }],
    ['abandoned', { params_bytes: 40_011, truncated: true }],
  ])('[CE3] events of a draft with long arguments, %s, fold to its card', async (how, shown) => {
    const { connect, calls, call, settle, store } = await setupCalls();
    connect('phone').offer(tool('camera'));
    const draft = await calls.draft({ ...request, tool: 'camera' });
    const args = { text: 'x'.repeat(40_000) };
    draft.update(args);
    if (how === 'cancelled') await calls.cancel(draft.callId, 'enough', 'operator');
    else if (how === 'abandoned') await draft.abandon('The stream was cut');
    else await draft.complete(how === 'completed' ? args : { text: 'x' });
    await settle();
    const events = await store.callEvents(draft.callId, { after: 0, limit: 10 });
    const card = events.map(({ update }) => update).reduce<Card | undefined>(mergeCard, undefined);
    expect(card).toEqual((await call(draft.callId)).card);
    expect(card).toMatchObject(shown);
  });

  test('[CC2] a draft that cannot be a call ends FAILED and says why', async () => {
    const { connect, calls } = await setupCalls();
    connect('phone').offer(tool('camera', { parameters: { type: 'object', required: ['x'] } }));
    const nonsense = await calls.draft({ ...request, tool: 'camera' });
    expect((await nonsense.complete({})).error).toMatchObject({
      code: 'invalid_args',
      executed: 'no',
    });
    const unknownDraft = await calls.draft({ ...request, tool: 'nothing' });
    expect((await unknownDraft.complete({})).error).toMatchObject({ code: 'no_provider' });
    const cut = await calls.draft({ ...request, tool: 'camera' });
    expect((await cut.abandon('The stream was cut')).error).toMatchObject({ code: 'invalid_args' });
  });
});
