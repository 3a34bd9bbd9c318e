import { describe, expect, test } from 'vitest';
import type { Target } from './target.ts';
import { startReceiver, status } from './testing/receiver.ts';
import { finishedRun, sampleRun } from './testing/sample-runs.ts';
import { asking, finished, ids, setupOutbox, webhook } from './testing/setup-outbox.ts';

/** A source of its own with one target. */
const to = (target: Pick<Target, 'send'> & Partial<Target>) => ({
  sources: [{ list: () => [{ ...{ id: 'push:one', wants: () => true }, ...target }] }],
});

describe('the outbox', () => {
  test('[OB3] writes nothing where no target wants it', async () => {
    const { outbox } = await setupOutbox();
    expect(outbox.announceCall(asking(), undefined)).toBeUndefined();
    const other = await setupOutbox({
      notify: webhook('http://127.0.0.1:1', { events: ['run.finished'] }),
    });
    expect(other.outbox.announceCall(asking(), undefined)).toBeUndefined();
    expect(other.outbox.announceRun(sampleRun(), finishedRun())).toBeUndefined();
  });

  test('[OB3] sends nothing of a write that did not happen', async () => {
    const receiver = await startReceiver(status(200));
    const { outbox, states } = await setupOutbox({ notify: webhook(receiver.origin) });
    expect(outbox.announceCall(asking(), undefined)?.changes.length).toBe(1);
    expect([await states(), receiver.received]).toEqual([[], []]);
  });

  test('[OB13] does not ask for an approval that was decided meanwhile', async () => {
    const receiver = await startReceiver(status(500));
    const { clock, ask, calls, outcomes, states } = await setupOutbox({
      notify: webhook(receiver.origin, { events: ['approval.requested'] }),
    });
    await ask();
    await expect.poll(() => outcomes.length).toBe(1);
    calls.set('tc_1', finished());
    clock.advance(5_000);
    await expect.poll(states).toEqual(['obsolete']);
    expect(receiver.received.length).toBe(1);
    expect(outcomes).toEqual(['webhook:ops failed', 'webhook:ops obsolete']);
  });

  test('[OB12] [OB15] [OB29] is flooded: of what waits for a target the oldest give way, and it is counted', async () => {
    const { ask, outbox, outcomes, store, states, clock, start } = await setupOutbox({
      notify: webhook('http://127.0.0.1:1'),
      isStarted: false,
    });
    for (const id of ids(1_050)) await ask({ id });
    expect(outbox.targets()).toMatchObject([{ open: 1_000 }]);
    await store.write([]);
    const all = await states();
    expect(all.filter((state) => state === 'dropped').length).toBe(50);
    expect(outcomes).toEqual(Array.from({ length: 50 }, () => 'webhook:ops dropped'));
    clock.freeze(15 * 86_400_000);
    start();
    await expect.poll(async () => (await states()).includes('dropped')).toBe(false);
  });

  test('[OB16] sends again under the same id, tries at once what waits, and sends a test', async () => {
    const receiver = await startReceiver(status(200), status(500), status(200));
    const { outbox, decide, listed, outcomes } = await setupOutbox({
      notify: webhook(receiver.origin, { events: ['call.finished'] }),
    });
    await decide(finished());
    await expect.poll(async () => (await listed())[0]?.state).toBe('delivered');
    const [sent] = await listed();
    const again = await outbox.resend(String(sent?.id));
    expect(again).toMatchObject({ state: 'open', attempts: 0, notice: sent?.notice });
    await expect.poll(() => outcomes.length).toBe(2);
    expect((await outbox.resend(String(sent?.id)))?.state).toBe('open');
    await expect.poll(async () => (await listed())[0]?.state).toBe('delivered');
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await outbox.resend('dlv_none')).toBeUndefined();
    expect(await outbox.test('webhook:none')).toBeUndefined();
    expect(await outbox.enable('webhook:none')).toBe(false);
    await outbox.test('webhook:ops');
    await receiver.got(4);
    expect(receiver.received[3]?.body).toContain('Test of notifications');
  });

  test('[OB17] gives nothing to a target that is not there any more', async () => {
    const receiver = await startReceiver(status(500));
    const first = await setupOutbox({ notify: webhook(receiver.origin), isStarted: false });
    await first.ask();
    await first.close();
    const second = await setupOutbox({ dir: first.dir });
    await expect.poll(second.states).toEqual(['removed']);
  });

  test('[OB9] [OB17] ends what waits for a target that was off and is not there any more', async () => {
    const receiver = await startReceiver(status(410));
    const first = await setupOutbox({ notify: webhook(receiver.origin), isStarted: false });
    for (const id of ids(5)) await first.ask({ id });
    first.start();
    await expect.poll(first.states).toEqual([...Array(4).fill('failed'), 'open']);
    await first.close();
    const second = await setupOutbox({ dir: first.dir });
    await expect.poll(second.states).toEqual([...Array(4).fill('failed'), 'removed']);
  });

  test('[OB17] keeps nothing of a target that its source took away', async () => {
    const targets: Target[] = [];
    const target = {
      ...{ id: 'push:one', wants: () => true },
      async send() {
        targets.pop();
        return { kind: 'gone', status: 410, reason: 'it knows the browser no more' } as const;
      },
    };
    targets.push(target);
    const { ask, listed, store } = await setupOutbox({ sources: [{ list: () => targets }] });
    await ask();
    await expect
      .poll(listed)
      .toMatchObject([{ state: 'failed', error: 'it knows the browser no more' }]);
    expect(await store.listKept('notify_target')).toEqual([]);
  });

  test('[OB20] is in no list, and others do nothing to it, where it is the browser of one person', async () => {
    const send = async () => ({ kind: 'delivered', status: 201 }) as const;
    const { ask, states, listed, outbox } = await setupOutbox(to({ send }));
    await ask();
    await expect.poll(states).toEqual(['delivered']);
    const [delivery] = await listed();
    expect(outbox.targets()).toEqual([]);
    expect(await outbox.test('push:one')).toBeUndefined();
    expect(await outbox.enable('push:one')).toBe(false);
    expect(await outbox.resend(delivery?.id ?? '')).toBeUndefined();
    expect(await states()).toEqual(['delivered']);
  });

  test('[OB13] makes no second attempt for what its target calls too late', async () => {
    const shown = { host: 'push.example', events: [] };
    const { ask, listed, outbox, outcomes } = await setupOutbox(
      to({ shown, send: async () => 'obsolete' }),
    );
    await ask();
    await expect.poll(listed).toMatchObject([{ state: 'obsolete', attempts: 0, nextAt: null }]);
    expect(outbox.targets()).toMatchObject([{ open: 0, failuresInRow: 0 }]);
    expect(outcomes).toEqual(['push:one obsolete']);
  });

  test('[OB7] [OB11] outlives a target that throws', async () => {
    const send = () => Promise.reject(new Error('a defect'));
    const { ask, listed, errors } = await setupOutbox(to({ send }));
    await ask();
    await expect.poll(listed).toMatchObject([{ state: 'open', attempts: 1 }]);
    expect(errors).toEqual([new Error('a defect')]);
  });
});
