import { expect, test } from 'vitest';
import type { CallEventEntry } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import { foldEvent } from '#lib/call/testing/fold-event';
import { sampleCall, sampleEvent } from '#lib/call/testing/sample-call';
import type { CardUpdate } from '#lib/protocol/card';
import type { Store } from './store.ts';
import { VersionConflictError } from './store-errors.ts';
import { appendCall, type Setup } from './testing/store-setup.ts';

/** The states of a call as its events lead to them. */
function history(first: CallRecord, given: readonly Partial<CallEventEntry>[]) {
  const states: CallRecord[] = [];
  const events = given.map((one, index) => sampleEvent({ version: index + 1, ...one }));
  for (const event of events) states.push(foldEvent(states.at(-1) ?? first, event));
  return { states, events };
}

async function appendAll(store: Store, { states, events }: ReturnType<typeof history>) {
  for (const [index, state] of states.entries()) {
    await store.write([appendCall(state, events[index])]);
  }
}

async function allEvents(store: Store, id: string): Promise<CallEventEntry[]> {
  const events: CallEventEntry[] = [];
  for (;;) {
    const page = await store.callEvents(id, { after: events.at(-1)?.version ?? 0, limit: 200 });
    if (page.length === 0) return events;
    events.push(...page);
  }
}

const foldAll = (first: CallRecord, events: readonly CallEventEntry[]): CallRecord =>
  events.reduce(foldEvent, first);

const large = { rows: Array.from({ length: 3_000 }, (_, index) => `row ${index}`) };

/** Events as every `Store` keeps them. */
export function describeEvents(setup: Setup) {
  test('[ST44] events come back in order, page by page, after a restart too', async () => {
    const { store, reopen } = setup();
    const first = sampleCall();
    const made = history(first, [
      { type: 'created', update: { params: first.args, status: 'WAIT' } },
      { type: 'offered', attempt: 1, patch: { phase: 'offered', offeredAt: 5 } },
      { type: 'status', patch: { preview: large }, update: { preview: large, tip: 'so far' } },
      { type: 'status', patch: { preview: undefined }, update: { tip: null } },
      { type: 'edited', patch: { args: { a: large } }, update: { params: { a: large } } },
      {
        type: 'answered',
        actor: 'client:cl_1',
        patch: { status: 'SUCCEEDED', phase: null, result: 'for the model', display: large },
        update: { status: 'SUCCESS', phase: null, result: large },
      },
      { type: 'late_result', patch: { lateResult: null }, update: { late_result: true } },
    ]);
    await appendAll(store, made);
    for (const open of [async () => store, reopen]) {
      const one = await open();
      const events = await allEvents(one, first.id);
      expect(events).toStrictEqual(made.events);
      for (const [index, state] of made.states.entries()) {
        expect(foldAll(first, events.slice(0, index + 1))).toStrictEqual(state);
      }
      expect(await one.getCall(first.id)).toEqual(made.states.at(-1));
      const some = await one.callEvents(first.id, { after: 2, limit: 3 });
      expect(some.map(({ version }) => version)).toEqual([3, 4, 5]);
      expect(await one.callEvents(first.id, { after: 7, limit: 3 })).toEqual([]);
      expect(await one.callEvents('tc_none', { after: 0, limit: 3 })).toEqual([]);
    }
  });

  test('[ST44] several events of one write come back one by one, as do those of other calls', async () => {
    const { store } = setup();
    const made = ['tc_1', 'tc_2'].map((id) =>
      history(sampleCall({ id }), [{ type: 'created' }, { type: 'queued' }, { type: 'offered' }]),
    );
    const changes = made.flatMap(({ states, events }) =>
      states.map((state, index) => appendCall(state, events[index])),
    );
    await store.write(changes.toSorted((a, b) => a.event.version - b.event.version));
    for (const { states, events } of made) {
      const id = states[0]?.id ?? '';
      expect(await allEvents(store, id)).toEqual(events);
      expect(await store.callEvents(id, { after: 1, limit: 1 })).toEqual([events[1]]);
      expect((await store.getCall(id))?.version).toBe(3);
    }
  });

  test('[ST45] of two who decide on one version the second is refused, and others are not', async () => {
    const { store, reopen } = setup();
    const first = { ...sampleCall(), version: 1 };
    await store.write([appendCall(first)]);
    const cancelled = { ...first, version: 2, status: 'FAILED' as const, phase: null };
    const granted = { ...first, version: 2, granted: true };
    const other = sampleCall({ id: 'tc_other', version: 1 });
    const outcomes = await Promise.allSettled([
      store.write([appendCall(cancelled)]),
      store.write([
        appendCall(other),
        appendCall(granted),
        {
          type: 'put_session',
          session: { idHash: 's:k', createdAt: 1, expiresAt: 2, tokenId: null },
        },
      ]),
      store.write([appendCall(sampleCall({ id: 'tc_third', version: 1 }))]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const [, refused] = outcomes;
    const reason = refused?.status === 'rejected' ? refused.reason : undefined;
    expect(reason).toBeInstanceOf(VersionConflictError);
    expect(reason).toMatchObject({ callId: first.id, version: 2, stored: 2 });
    expect(store.failed).toBe(false);
    for (const open of [async () => store, reopen]) {
      const one = await open();
      expect(await one.getCall(first.id)).toEqual(cancelled);
      expect(await one.getCall('tc_other')).toBeUndefined();
      expect(await one.callEvents('tc_other', { after: 0, limit: 1 })).toEqual([]);
      expect(await one.findSession('s')).toBeUndefined();
      expect(await one.getCall('tc_third')).toBeDefined();
      // It is tried again with what is there now, where that still has a meaning.
      await expect(one.write([appendCall({ ...first, version: 2 })])).rejects.toBeInstanceOf(
        VersionConflictError,
      );
    }
  });

  test.each([
    ['the second event of a call that is not there', 2, 0],
    ['an event without a number', 0, 0],
  ])('[ST45] %s is refused', async (_, version, stored) => {
    const { store } = setup();
    await expect(store.write([appendCall(sampleCall({ version }))])).rejects.toMatchObject({
      name: 'VersionConflictError',
      version,
      stored,
    });
    await store.write([appendCall(sampleCall({ version: 1 }))]);
  });

  test('[ST45] a write that is refused leaves the versions of its other calls as they were', async () => {
    const { store } = setup();
    const first = sampleCall({ version: 1 });
    await expect(
      store.write([appendCall(first), appendCall(sampleCall({ id: 'tc_2', version: 3 }))]),
    ).rejects.toBeInstanceOf(VersionConflictError);
    await store.write([appendCall(first)]);
    expect(await store.getCall(first.id)).toEqual(first);
  });

  test('[ST45] a call that ended has a next event, once, also after a restart', async () => {
    const { store, reopen } = setup();
    const ended = sampleCall({ status: 'FAILED', phase: null, version: 1 });
    await store.write([appendCall(ended)]);
    const late = { ...ended, version: 2, lateResult: 'late' };
    await store.write([appendCall(late)]);
    const again = await reopen();
    await expect(again.write([appendCall(late)])).rejects.toMatchObject({ stored: 2 });
    await again.write([appendCall({ ...late, version: 3 })]);
    expect((await again.getCall(ended.id))?.version).toBe(3);
  });

  const status = (at: number, update: CardUpdate): Partial<CallEventEntry> => ({
    type: 'status',
    at,
    patch: { preview: at },
    update: { ...update, preview: at, status_params: { [`p${at % 7}`]: at } },
  });

  test('[ST46] beyond 2,000 events those of progress are one, and the rest is kept', async () => {
    const { store, reopen } = setup();
    const first = sampleCall();
    const given = Array.from({ length: 2_600 }, (_, index) =>
      index === 2_300 ? { type: 'resumed' } : status(index, { progress: { done: index } }),
    );
    const made = history(first, [...given, { type: 'offered' }, ...given.slice(0, 9)]);
    await Promise.all(
      made.states.map((state, n) => store.write([appendCall(state, made.events[n])])),
    );
    const again = await reopen();
    const { events, states } = history(made.states.at(-1) ?? first, [
      { ...status(9_000, { tip: 'on' }), version: 2_611 },
      { type: 'answered', version: 2_612, patch: { status: 'SUCCEEDED', phase: null } },
    ]);
    await appendAll(again, { events, states });
    const kept = await allEvents(again, first.id);
    const versions = kept.map(({ version }) => version);
    expect(versions.slice(0, 2_000)).toEqual(Array.from({ length: 2_000 }, (_, n) => n + 1));
    expect(versions.slice(2_000)).toEqual([2_300, 2_301, 2_600, 2_601, 2_611, 2_612]);
    expect(foldAll(first, kept)).toEqual(states.at(-1));
    for (const version of [2_000, 2_300, 2_301, 2_600, 2_601]) {
      const upTo = kept.filter((event) => event.version <= version);
      expect(foldAll(first, upTo)).toEqual(made.states[version - 1]);
    }
    expect(await again.callEvents(first.id, { after: 2_450, limit: 1 })).toEqual([kept[2_002]]);
  });

  test('[ST46] beyond 2 MiB those of progress are one, too', async () => {
    const { store } = setup();
    const first = sampleCall();
    const text = 'x'.repeat(300_000);
    const given = Array.from({ length: 40 }, (_, at) => ({
      type: 'status',
      patch: { preview: `${at} ${text}` },
      update: { preview: `${at} ${text}` },
    }));
    const made = history(first, [...given, { type: 'answered' }]);
    await appendAll(store, made);
    const kept = await allEvents(store, first.id);
    expect(kept.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6, 7, 40, 41]);
    expect(foldAll(first, kept)).toEqual(made.states.at(-1));
  });
}
