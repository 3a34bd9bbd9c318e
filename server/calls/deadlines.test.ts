import { describe, expect, test } from 'vitest';
import { CLOCKS } from '#lib/protocol/limits';
import { appendCall } from '../store/testing/store-setup.ts';
import { shiftOfOlder, steadyAtStart } from './recover.ts';
import { operator, reading, setupCalls, tool } from './testing/setup-calls.ts';

const HOUR = 3_600_000;
const YEARS = 10 * 365 * 24 * HOUR;

async function setup(options: Parameters<typeof setupCalls>[0] = {}) {
  const one = await setupCalls(options);
  const claiming = (timeoutMs: number) => {
    const phone = one.connect('phone', { claims: true, epoch: 'e1' });
    phone.offer(tool('camera', { timeout_ms: timeoutMs }));
    return phone;
  };
  const granted = async (timeoutMs: number) => {
    const phone = claiming(timeoutMs);
    const { id } = await one.invoke('camera');
    await phone.claim(id, 1);
    await one.settle();
    return { phone, id };
  };
  return { ...one, granted, claiming };
}

describe('a granted call whose client is away', () => {
  test('[CK1] ends with execute when that is earlier, and the card says when', async () => {
    const { granted, clock, settle, call, cardOf } = await setup();
    const { phone, id } = await granted(20_000);
    const end = (clock.now() + 20_000) / 1_000;
    phone.leave();
    await settle();
    expect(cardOf(id)?.clock).toEqual({ name: 'resume', deadline_at: end });
    clock.advance(19_999);
    await settle();
    expect((await call(id)).status).toBe('RUNNING');
    clock.advance(1);
    await settle();
    expect(await call(id)).toMatchObject({
      status: 'TIMEOUT',
      error: { clock: 'execute', executed: 'unknown' },
    });
  });

  test('[CK1] ends with the grace when that is earlier', async () => {
    const { granted, clock, settle, call } = await setup();
    const { phone, id } = await granted(CLOCKS.resumeMs + 1);
    phone.leave();
    clock.advance(CLOCKS.resumeMs);
    await settle();
    expect(await call(id)).toMatchObject({ status: 'FAILED', error: { code: 'outcome_unknown' } });
  });

  test('[CK5] back while its person is asked, both clocks are as it left them', async () => {
    const { granted, clock, settle, call, connect } = await setup();
    const { phone, id } = await granted(20_000);
    clock.advance(5_000);
    phone.status({ type: 'tool_status', id, phase: 'device' });
    clock.advance(60_000);
    phone.leave();
    const back = connect('phone', { claims: true, epoch: 'e1' });
    await back.back([{ id, attempt: 1, phase: 'running' }]);
    back.status({ type: 'tool_status', id, phase: 'granted' });
    clock.advance(14_999);
    await settle();
    expect((await call(id)).status).toBe('RUNNING');
    clock.advance(1);
    await settle();
    expect((await call(id)).error).toMatchObject({ code: 'timeout', clock: 'execute' });
  });
});

describe('a granted call that is offered again', () => {
  test.each([
    ['may be repeated', reading, 'after a break'],
    ['may be repeated', reading, 'in the place of its older connection'],
    ['has effects, and its journal says that it never ran', {}, 'after a break'],
  ])('[CK7] has its time once (%s), however often its client returns', async (_name, more, how) => {
    const { connect, invoke, clock, settle, call } = await setup();
    const offered = tool('look', { ...more, timeout_ms: 1_000 });
    const arrive = () => {
      const phone = connect('phone', { claims: true, epoch: 'e1' });
      phone.offer(offered);
      return phone;
    };
    let phone = arrive();
    const { id } = await invoke('look');
    await phone.claim(id, 1);
    for (const attempt of [2, 3]) {
      clock.advance(400);
      if (how === 'after a break') phone.leave();
      await phone.back();
      phone = arrive();
      await settle();
      await phone.claim(id, attempt);
    }
    clock.advance(199);
    await settle();
    expect(await call(id)).toMatchObject({ phase: 'granted', provider: { attempt: 3 } });
    clock.advance(1);
    await settle();
    expect((await call(id)).error).toMatchObject({ clock: 'execute', executed: 'unknown' });
  });

  test('[CK7] that time runs while it is offered', async () => {
    const { connect, invoke, clock, settle, call } = await setup();
    const offered = tool('look', { ...reading, timeout_ms: 1_000 });
    let phone = connect('phone', { claims: true, epoch: 'e1' });
    phone.offer(offered);
    const { id } = await invoke('look');
    await phone.claim(id, 1);
    phone.leave();
    phone = connect('phone', { claims: true, epoch: 'e1' });
    await phone.back();
    phone.offer(offered);
    clock.advance(999);
    await settle();
    expect(await call(id)).toMatchObject({ phase: 'offered', provider: { attempt: 2 } });
    clock.advance(1);
    await settle();
    expect((await call(id)).error).toMatchObject({ clock: 'execute', executed: 'unknown' });
  });
});

describe('the time of a person at the device', () => {
  const MINUTE = 60_000;
  const device = (id: string) => ({ type: 'tool_status', id, phase: 'device' }) as const;
  const works = (id: string) => ({ type: 'tool_status', id, phase: 'granted' }) as const;

  test('[CK6] is ten minutes in all, however often a client asks', async () => {
    const { granted, clock, settle, call } = await setup();
    const { phone, id } = await granted(1_000);
    for (let minute = 0; minute < 9; minute += 1) {
      phone.status(device(id));
      clock.advance(MINUTE);
      phone.status(works(id));
      clock.advance(1);
    }
    phone.status(device(id));
    clock.advance(MINUTE - 1);
    await settle();
    expect((await call(id)).phase).toBe('device');
    clock.advance(1);
    await settle();
    expect(await call(id)).toMatchObject({
      status: 'TIMEOUT',
      error: { code: 'timeout', clock: 'approval', executed: 'unknown' },
    });
  });

  test('[CK6] when it is used up, to ask once more ends the call', async () => {
    const { granted, clock, settle, call } = await setup();
    const { phone, id } = await granted(20_000);
    phone.status(device(id));
    clock.freeze(CLOCKS.approvalMs);
    phone.status(works(id));
    phone.status(device(id));
    clock.advance(0);
    await settle();
    expect((await call(id)).error).toMatchObject({ clock: 'approval' });
  });

  test('[CK6] goes on from one offer to the next', async () => {
    const { connect, invoke, clock, settle, call } = await setup();
    let id = '';
    for (const attempt of [1, 2]) {
      const phone = connect('phone', { claims: true, epoch: 'e1' });
      await phone.back();
      phone.offer(tool('look', { ...reading, timeout_ms: 1_000 }));
      if (id === '') ({ id } = await invoke('look'));
      await settle();
      await phone.claim(id, attempt);
      phone.status(device(id));
      clock.advance(5 * MINUTE);
      if (attempt === 1) phone.leave();
    }
    await settle();
    expect(await call(id)).toMatchObject({ status: 'TIMEOUT', error: { clock: 'approval' } });
  });

  test('[CK6] goes on after a restart of the server', async () => {
    const before = await setup();
    const { phone, id } = await before.granted(1_000);
    phone.status(device(id));
    before.clock.advance(6 * MINUTE);
    phone.status(works(id));
    await before.settle();
    const after = await setup({ dir: before.dir });
    after.clock.freeze(before.clock.now() - after.clock.now());
    await after.calls.recover(before.clock.moment());
    const back = after.connect('phone', { claims: true, epoch: 'e1' });
    await back.back([{ id, attempt: 1, phase: 'running' }]);
    back.status(device(id));
    after.clock.advance(4 * MINUTE - 1);
    await after.settle();
    expect((await after.call(id)).phase).toBe('device');
    after.clock.advance(1);
    await after.settle();
    expect((await after.call(id)).error).toMatchObject({ clock: 'approval' });
  });
});

describe('the wall clock is set', () => {
  test.each([
    ['an hour on', HOUR],
    ['an hour back', -HOUR],
    ['ten years on', YEARS],
    ['ten years back', -YEARS],
  ])('[CK3] %s: a call has the time that it had, and nothing is written', async (_name, byMs) => {
    const { granted, clock, calls, call, cardOf, settle, store } = await setup();
    const { id } = await granted(20_000);
    clock.advance(5_000);
    const end = clock.now() + 15_000;
    const history = () => store.callEvents(id, { after: 0, limit: 99 });
    const before = await history();
    clock.setWall(byMs);
    calls.wallClockMoved();
    await settle();
    expect(await history()).toEqual(before);
    const shown = { name: 'execute', deadline_at: (end + byMs) / 1_000 };
    expect((await call(id)).card.clock).toEqual(shown);
    expect(cardOf(id)?.clock).toEqual(shown);
    expect(calls.watched().map(({ card }) => card.clock)).toEqual([shown]);
    expect((await calls.list({ limit: 1 })).calls[0]?.card.clock).toEqual(shown);
    clock.advance(14_999);
    await settle();
    expect((await call(id)).status).toBe('RUNNING');
    clock.advance(1);
    await settle();
    const { status, completedAt } = await call(id);
    expect([status, completedAt]).toEqual(['TIMEOUT', end + byMs]);
  });

  test('[CK3] a yes to what was shown before the clock was set is a yes to it still', async () => {
    const check = () => ({ verdict: 'ask' as const, reason: 'It takes pictures' });
    for (const isSeenAnew of [false, true]) {
      const { claiming, invoke, clock, calls, call } = await setup({ check });
      claiming(1_000);
      const { id } = await invoke('camera');
      const asked = (await call(id)).card.clock?.deadline_at;
      clock.setWall(HOUR);
      const anew = (await call(id)).card.clock?.deadline_at;
      expect(anew).toBe((asked ?? 0) + HOUR / 1_000);
      const expiresAt = (isSeenAnew ? anew : asked) ?? 0;
      const decided = await calls.decide(id, operator, { decision: 'yes', expiresAt });
      expect(decided).toMatchObject({ ok: true });
    }
  });
});

describe('a start after an absence', () => {
  const wall = 1_000_000;
  test.each([
    ['no mark was left', undefined, 0, wall],
    ['no mark was left, and a call has one', undefined, 400, 400],
    ['a server of before left its own', { wall: 900_000 }, 0, wall],
    ['a second', { wall: wall - 1_000, steady: 500 }, 0, 1_500],
    ['ten seconds', { wall: wall - 10_000, steady: 500 }, 0, 10_500],
    ['an hour, or a clock set an hour on', { wall: wall - HOUR, steady: 500 }, 0, 10_500],
    ['an hour back', { wall: wall + HOUR, steady: 500 }, 0, 500],
    ['a call was marked after the file', { wall: wall + HOUR, steady: 500 }, 900, 900],
  ])('[CK4] where the steady clock goes on: %s', (_name, last, marked, steady) => {
    const open = [{ clockMark: null }, { clockMark: marked || null }];
    expect(steadyAtStart(last, wall, open)).toBe(steady);
  });

  test.each([
    ['no mark was left', undefined, wall, 0],
    ['ten seconds', wall - 10_000, wall, 0],
    ['an hour, or a clock set an hour on', wall - HOUR, wall, HOUR - 10_000],
    ['an hour back', wall + HOUR, wall, -HOUR],
    ['a steady clock of its own', wall - 10_000, 300, 300 - wall],
  ])('[CK4] how deadlines of before are moved: %s', (_name, last, steady, shift) => {
    const mark = last === undefined ? undefined : { wall: last };
    expect(shiftOfOlder(mark, { wall, steady })).toBe(shift);
  });

  test.each([HOUR, -HOUR, YEARS, -YEARS])(
    '[CK4] of %d ms: at most ten seconds are lost, none is won, and the next start goes on',
    async (absence) => {
      const before = await setup();
      const { id } = await before.granted(60_000);
      let last = before.clock.moment();
      let left = 60_000;
      for (let start = 0; start < 2; start += 1) {
        const after = await setup({ dir: before.dir });
        after.clock.setWall(last.wall + absence - after.clock.now());
        await after.calls.recover(last);
        await after.settle();
        left -= absence < 0 ? 0 : 10_000;
        const { deadlines, card } = await after.call(id);
        expect(deadlines).toMatchObject({ execute: after.clock.steady() + left });
        expect(card.clock).toEqual({
          name: 'resume',
          deadline_at: (after.clock.now() + left) / 1_000,
        });
        last = after.clock.moment();
        if (start === 0) continue;
        after.clock.advance(left);
        await after.settle();
        expect((await after.call(id)).error).toMatchObject({ clock: 'execute' });
      }
    },
  );
});

describe('a call that only waits', () => {
  const check = () => ({ verdict: 'ask' as const, reason: 'It takes pictures' });

  test('[CK4] is not written by a start, and its card shows where its deadline is', async () => {
    const before = await setup({ check });
    before.claiming(1_000);
    const { id } = await before.invoke('camera');
    const last = before.clock.moment();
    const after = await setup({ check, dir: before.dir });
    after.clock.setWall(last.wall + HOUR - after.clock.now());
    await after.calls.recover(last);
    await after.settle();
    const end = last.wall + CLOCKS.approvalMs + HOUR - 10_000;
    expect(await after.call(id)).toMatchObject({
      phase: 'approval',
      version: 1,
      card: { clock: { name: 'approval', deadline_at: end / 1_000 } },
    });
    expect(after.calls.watched()).toMatchObject([
      { card: { clock: { deadline_at: end / 1_000 } } },
    ]);
  });

  test('[CK4] of a server of before, its deadline is a wall time: it is moved once, and marked', async () => {
    const before = await setup({ check });
    before.claiming(1_000);
    const { id } = await before.invoke('camera');
    const stored = await before.call(id);
    await before.store.write([
      appendCall({ ...stored, version: stored.version + 1, clockMark: null }),
    ]);
    const wall = before.clock.now();
    const after = await setup({ check, dir: before.dir });
    after.clock.setWall(wall + HOUR - after.clock.now());
    await after.calls.recover({ wall });
    await after.settle();
    const left = CLOCKS.approvalMs - 10_000;
    const end = { card: { clock: { deadline_at: (wall + HOUR + left) / 1_000 } } };
    expect(await after.call(id)).toMatchObject({ clockMark: after.clock.steady(), ...end });
    after.clock.advance(left - 1);
    await after.settle();
    expect((await after.call(id)).phase).toBe('approval');
    after.clock.advance(1);
    await after.settle();
    expect((await after.call(id)).error).toMatchObject({ code: 'approval_expired' });
  });
});

describe('two at one moment', () => {
  test('[CA12] a cancel and an answer: what was final first stays, and is told once', async () => {
    const { granted, calls, call, settle, events } = await setup();
    const { phone, id } = await granted(20_000);
    const cancelling = calls.cancel(id, 'enough', 'operator');
    const answered = phone.succeed(id, 'done', 1);
    await Promise.all([cancelling, answered]);
    await settle();
    expect((await call(id)).status).toBe('SUCCEEDED');
    const ends = events.filter((one) => one.type === 'call' && one.update.completed_at);
    expect(ends).toHaveLength(1);
  });

  test('[CA14] a cancel and a claim before the offer is on disk: the call ends at once, not run', async () => {
    const { claiming, invoke, calls, call, events } = await setup();
    const phone = claiming(20_000);
    const invoked = invoke('camera');
    const id = phone.requests()[0]?.id ?? 'no request';
    const claimed = phone.claim(id, 1);
    const cancelled = calls.cancel(id, 'enough', 'operator');
    expect(await claimed).toMatchObject({ type: 'tool_call_refused', reason: 'already_final' });
    expect(await cancelled).toMatchObject({ ok: true, call: { status: 'FAILED' } });
    await invoked;
    const error = { code: 'cancelled', message: 'enough', executed: 'no' };
    expect(await call(id)).toMatchObject({ status: 'FAILED', error });
    expect(phone.inbox.at(-1)).toEqual({ type: 'tool_call_cancel', id, reason: 'enough' });
    const phases = events.flatMap((one) => (one.type === 'call' ? [one.update.phase] : []));
    expect(phases).not.toContain('cancelling');
    expect(await phone.claim(id, 1)).toMatchObject({ type: 'tool_call_refused' });
  });

  test('[CA14] a cancel between the barrier of a grant and its reply: the call ends at once, not run', async () => {
    const { claiming, invoke, calls, call, settle } = await setup();
    const phone = claiming(20_000);
    const { id } = await invoke('camera');
    await settle();
    const cancelled = calls.cancel(id, 'enough', 'operator');
    const claimed = phone.claim(id, 1);
    expect(await claimed).toMatchObject({ type: 'tool_call_refused', reason: 'already_final' });
    expect(await cancelled).toMatchObject({ ok: true });
    expect((await call(id)).error).toMatchObject({ code: 'cancelled', executed: 'no' });
  });

  test('[CA14] a tool with effects that is cancelled before its start is on disk does not start', async () => {
    const { invoke, calls, call, settle, started } = await setup({ effect: 'write' });
    const invoked = invoke('hold');
    const [id = ''] = calls.openOfRun('run_1');
    await calls.cancel(id, 'enough', 'operator');
    await invoked;
    await settle();
    expect((await call(id)).error).toMatchObject({ code: 'cancelled', executed: 'no' });
    expect(started()).toBe(0);
  });

  test('[CA14] a call that waits for a client ends at once, not run, and is offered to none that comes', async () => {
    const check = () => ({ verdict: 'ask', reason: 'look' }) as const;
    const { connect, claiming, invoke, calls, call, cardOf, settle } = await setup({ check });
    const left = claiming(20_000);
    const { id } = await invoke('camera');
    left.leave();
    await calls.decide(id, operator, { decision: 'yes' });
    await settle();
    expect((await call(id)).phase).toBe('queued');
    expect(await calls.cancel(id, 'enough', 'operator')).toMatchObject({ ok: true });
    expect(await call(id)).toMatchObject({
      status: 'FAILED',
      error: { code: 'cancelled', executed: 'no' },
    });
    const late = connect('late');
    late.offer(tool('camera'));
    await settle();
    expect([left.requests(), late.requests(), cardOf(id)?.status]).toEqual([[], [], 'ERROR']);
  });

  test('[CA14] once the grant may have left, a cancel waits for the client', async () => {
    const { claiming, invoke, calls, call } = await setup();
    const phone = claiming(20_000);
    const { id } = await invoke('camera');
    let cancelled: Promise<unknown> = Promise.resolve();
    // As early as can be: its socket would send it only after this.
    const claimed = phone.claim(id, 1).then((reply) => {
      cancelled = calls.cancel(id, 'enough', 'operator');
      return reply;
    });
    expect(await claimed).toMatchObject({ type: 'tool_call_granted' });
    // A claim that came twice is refused now, and takes nothing back.
    expect(await phone.claim(id, 1)).toMatchObject({ type: 'tool_call_refused' });
    await cancelled;
    expect((await call(id)).phase).toBe('cancelling');
  });

  test('[CA12] two late answers: the first is kept, and marked on the stored card too', async () => {
    const { granted, clock, settle, store } = await setup();
    const { phone, id } = await granted(1_000);
    clock.advance(1_000);
    await settle();
    const replies = await Promise.all([phone.succeed(id, 'one', 1), phone.succeed(id, 'two', 1)]);
    expect(replies).toMatchObject([{ disposition: 'late' }, { code: 'conflict', final: true }]);
    expect(await store.getCall(id)).toMatchObject({
      lateResult: 'one',
      card: { late_result: true },
    });
  });
});
