import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { traceparentOf } from '../telemetry/trace-context.ts';
import { hang, startReceiver, status } from './testing/receiver.ts';
import {
  asking,
  finished,
  ids,
  newSecret,
  ORIGIN,
  SECRET,
  setupOutbox,
  webhook,
} from './testing/setup-outbox.ts';

describe('a webhook', () => {
  test('[OB6] [OB7] that fails twice and then takes it gets one id with new times, each with a good signature, and is one delivery', async () => {
    const receiver = await startReceiver(status(500), status(503), status(204));
    const { clock, ask, states, outcomes, listed } = await setupOutbox({
      notify: webhook(`${receiver.origin}/hook`),
    });
    await ask();
    await receiver.got(1);
    await expect.poll(() => outcomes.length).toBe(1);
    clock.advance(5_000);
    await receiver.got(2);
    await expect.poll(() => outcomes.length).toBe(2);
    clock.advance(5 * 60_000);
    await receiver.got(3);
    await expect.poll(states).toEqual(['delivered']);
    const { received } = receiver;
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const times = received.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(times).toEqual([1_000, 1_005, 1_305]);
    const verifier = new Webhook(SECRET);
    for (const { headers, body } of received) {
      expect(
        verifier.sign(
          String(headers['webhook-id']),
          new Date(Number(headers['webhook-timestamp']) * 1_000),
          body,
        ),
      ).toBe(headers['webhook-signature']);
    }
    expect(await listed()).toMatchObject([{ attempts: 3, status: 204, error: null, nextAt: null }]);
    expect(outcomes).toEqual(['webhook:ops failed', 'webhook:ops failed', 'webhook:ops delivered']);
  });

  test('[OB6] whose secret is being replaced accepts by the old one and by the new one', async () => {
    const receiver = await startReceiver(status(200));
    const [fresh, old] = [newSecret(), newSecret()];
    const clock = { now: Date.now };
    const { ask, clock: manual } = await setupOutbox({
      notify: webhook(receiver.origin, { secret: [fresh, old] }),
    });
    manual.freeze(clock.now() - manual.now());
    await ask();
    await receiver.got(1);
    const [{ headers = {}, body = '' } = {}] = receiver.received;
    const signed = headers as Record<string, string>;
    expect(new Webhook(fresh).verify(body, signed)).toMatchObject({ type: 'approval.requested' });
    expect(new Webhook(old).verify(body, signed)).toMatchObject({ type: 'approval.requested' });
    expect(() => new Webhook(newSecret()).verify(body, signed)).toThrow('No matching signature');
    expect(() => new Webhook(fresh).verify(`${body} `, signed)).toThrow('No matching signature');
  });

  test('[TM18] is given the span of the call that a notice is about, where there is one', async () => {
    const receiver = await startReceiver(status(200), status(200));
    const traced = await setupOutbox({ notify: webhook(receiver.origin), isTracing: true });
    await traced.ask({ id: 'tc_traced' });
    await receiver.got(1);
    const untraced = await setupOutbox({ notify: webhook(receiver.origin) });
    await untraced.ask();
    await receiver.got(2);
    const [first, second] = receiver.received.map(({ headers }) => headers.traceparent);
    expect(first).toBe(traceparentOf({ id: 'tc_traced' }, true));
    expect(second).toBeUndefined();
  });

  test('[OB2] gets what happened and a link, and no arguments', async () => {
    const receiver = await startReceiver(status(200));
    const { ask } = await setupOutbox({ notify: webhook(receiver.origin) });
    await ask({ args: { text: 'hidden words' } });
    await receiver.got(1);
    const { body = '' } = receiver.received[0] ?? {};
    expect(JSON.parse(body)).toEqual({
      type: 'approval.requested',
      timestamp: new Date(1_000_000).toISOString(),
      data: {
        ...{ tool_call_id: 'tc_1', run_id: 'run_1', tool_name: 'echo.text', display_name: 'Pay' },
        ...{ source: 'client', client: null, requested_by: 'operator', reason: 'It pays' },
        ...{ expires_at: null, link: `${ORIGIN}/#call=tc_1` },
      },
    });
    expect(body).not.toContain('hidden words');
  });

  test('[OB2] [OB6] that asks for arguments and results gets them as the record has them, cut, in a body under 20,000 bytes', async () => {
    const receiver = await startReceiver(status(200));
    const { decide } = await setupOutbox({
      notify: webhook(receiver.origin, {
        events: ['call.finished'],
        include: ['arguments', 'result'],
      }),
    });
    const long = '"\u0001'.repeat(50_000);
    await decide(finished({ args: { key: '[redacted:argument]', text: 'short' }, result: long }));
    await receiver.got(1);
    const { body = '' } = receiver.received[0] ?? {};
    const { data } = JSON.parse(body);
    expect(data.arguments).toEqual({ key: '[redacted:argument]', text: 'short' });
    expect(long.startsWith(data.result.slice(0, 500))).toBe(true);
    expect(data.cut).toEqual(['result']);
    expect(Buffer.byteLength(body)).toBeLessThan(20_000);
  });

  test('[OB2] gets no text over 512 bytes, whatever the names of others', async () => {
    const receiver = await startReceiver(status(200));
    const { decide } = await setupOutbox({ notify: webhook(receiver.origin) });
    const long = '字'.repeat(9_000);
    const call = asking({ runId: long, requestedBy: long, wantedClientId: long });
    await decide({ ...call, card: { ...call.card, display_name: long, approval_reason: long } });
    await receiver.got(1);
    const { body = '' } = receiver.received[0] ?? {};
    expect(JSON.parse(body).data.reason).toBe('字'.repeat(170));
    expect(Buffer.byteLength(body)).toBeLessThan(5_000);
  });

  test('[OB8] that redirects has failed, and nothing goes where it leads', async () => {
    const elsewhere = await startReceiver(status(200));
    const receiver = await startReceiver(status(302, { location: elsewhere.origin }));
    const { ask, listed } = await setupOutbox({ notify: webhook(receiver.origin) });
    await ask();
    await expect
      .poll(listed)
      .toMatchObject([{ state: 'open', attempts: 1, status: 302, nextAt: 1_005_000 }]);
    expect((await listed())[0]?.error).toBe('HTTP 302: a redirect, which is not followed');
    expect(elsewhere.received).toEqual([]);
  });

  test('[OB9] that answers 410 is off until a person turns it on, over a restart too', async () => {
    const receiver = await startReceiver(status(410), status(200));
    const notify = webhook(receiver.origin);
    const first = await setupOutbox({ notify });
    await first.ask();
    await expect.poll(first.states).toEqual(['failed']);
    expect(first.outbox.targets()).toMatchObject([{ offSince: 1_000_000, failuresInRow: 1 }]);
    await first.ask({ id: 'tc_2' });
    await first.close();
    const second = await setupOutbox({ notify, dir: first.dir });
    await second.ask({ id: 'tc_3' });
    expect(await second.states()).toEqual(['failed']);
    expect(second.outbox.targets()).toMatchObject([{ offSince: 1_000_000 }]);
    expect(await second.outbox.enable('webhook:ops')).toBe(true);
    await second.ask({ id: 'tc_4' });
    await expect.poll(second.states).toEqual(['delivered', 'failed']);
    await second.close();
    const third = await setupOutbox({ notify, dir: first.dir });
    expect(third.outbox.targets()).toMatchObject([{ offSince: null }]);
    expect(receiver.received.length).toBe(2);
  });

  test('[OB7] that never takes it is tried ten times in three days, then the delivery has failed', async () => {
    const receiver = await startReceiver(status(500));
    const { clock, ask, listed, outcomes } = await setupOutbox({
      notify: webhook(receiver.origin),
    });
    await ask();
    const minutes = [1 / 12, 5, 30, 120, 300, 600, 840, 1_200, 1_440];
    for (const [tried, wait] of minutes.entries()) {
      await expect.poll(() => outcomes.length).toBe(tried + 1);
      clock.advance(wait * 60_000 - 1);
      expect(receiver.received.length).toBe(tried + 1);
      clock.advance(1);
      await receiver.got(tried + 2);
    }
    await expect
      .poll(listed)
      .toMatchObject([{ state: 'failed', attempts: 10, error: 'HTTP 500', nextAt: null }]);
    clock.advance(100 * 3_600_000);
    expect(receiver.received.length).toBe(10);
  });

  test('[OB7] whose next attempt lies far ahead since the wall clock was set back is tried all the same', async () => {
    const receiver = await startReceiver(status(500), status(200));
    const notify = webhook(receiver.origin);
    const first = await setupOutbox({ notify });
    first.clock.setWall(400 * 86_400_000);
    await first.ask();
    await expect.poll(() => first.outcomes.length).toBe(1);
    await first.store.write([]);
    await first.close();
    const second = await setupOutbox({ notify, dir: first.dir, isStarted: false });
    second.calls.set('tc_1', asking());
    second.start();
    await expect.poll(second.states).toEqual(['delivered']);
  });

  test('[OB10] that is overloaded is left alone, and then gets one at a time until it takes one', async () => {
    const receiver = await startReceiver(
      status(429, { 'retry-after': '60' }),
      status(503),
      status(200),
    );
    const { clock, ask, outbox, outcomes, states } = await setupOutbox({
      notify: webhook(receiver.origin),
    });
    await ask();
    await expect.poll(() => outcomes.length).toBe(1);
    expect(outbox.targets()).toMatchObject([{ slowedUntil: 1_060_000 }]);
    for (const id of ids(3)) await ask({ id });
    clock.advance(59_999);
    expect(receiver.received.length).toBe(1);
    clock.advance(1);
    await expect.poll(() => outcomes.length).toBe(2);
    expect(receiver.received.length).toBe(2);
    expect(outbox.targets()).toMatchObject([{ slowedUntil: 1_070_000, failuresInRow: 2 }]);
    clock.advance(10_000);
    await expect
      .poll(async () => (await states()).filter((one) => one === 'delivered').length)
      .toBe(4);
    expect(outbox.targets()).toMatchObject([{ slowedUntil: null, failuresInRow: 0 }]);
  });

  test.each([
    ['60', 60],
    ['Thu, 01 Jan 1970 00:18:20 GMT', 100],
    ['999999999', 3_600],
    ['0', 5],
    ['soon', 5],
  ])('[OB10] that answers "Retry-After: %s" is left alone for %d s', async (header, seconds) => {
    const receiver = await startReceiver(status(429, { 'retry-after': header }));
    const { ask, outbox, outcomes } = await setupOutbox({ notify: webhook(receiver.origin) });
    await ask();
    await expect.poll(() => outcomes.length).toBe(1);
    expect(outbox.targets()).toMatchObject([{ slowedUntil: 1_000_000 + seconds * 1_000 }]);
  });

  test('[OB11] that hangs has four attempts of 15 s at a time, and no other target waits for it', async () => {
    const [hanging, other] = [await startReceiver(hang), await startReceiver(status(200))];
    const { clock, ask, listed, states } = await setupOutbox({
      notify: {
        ...webhook(hanging.origin),
        other: { kind: 'webhook', url: other.origin, secret: SECRET },
      },
    });
    for (const id of ids(6)) await ask({ id });
    await Promise.all([hanging.got(4), other.got(6)]);
    await expect
      .poll(async () => (await states()).filter((one) => one === 'delivered').length)
      .toBe(6);
    expect(hanging.received.length).toBe(4);
    clock.advance(15_000);
    await hanging.got(6);
    await expect
      .poll(
        async () => (await listed()).filter(({ error }) => error === 'no answer in time').length,
      )
      .toBe(4);
  });
});
