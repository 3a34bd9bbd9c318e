import { expect, test } from 'vitest';
import type { Call } from '#lib/call/call';
import type { CallEventEntry, PublishedEvent } from '#lib/call/call-event';
import { firstEntryOf, foldEvent, foldEvents, toPublished } from '#lib/call/fold';
import { changed, sampleCall, sampleProvider } from '#lib/call/testing/sample-call';
import type { Store } from './sqlite-store.ts';
import { VersionConflictError } from './store-errors.ts';
import { appendCall, type Setup } from './testing/store-setup.ts';

type Given = Partial<CallEventEntry> & Pick<CallEventEntry, 'type'>;

/** The entries of a call that begins so, and the states to which they lead. */
function history(first: Call, given: readonly Given[]) {
  const states: Call[] = [];
  const created = { type: 'created', ...firstEntryOf(first) };
  const entries = [created, ...given].map((one, index) => {
    const { shown = {}, ...rest } = one;
    const visible = Object.keys(shown).length > 0 ? { shown } : {};
    const entry = {
      version: index + 1,
      at: index + 10,
      actor: 'operator',
      patch: {},
      ...rest,
      ...visible,
    };
    states.push(foldEvent(states.at(-1), entry).call);
    return entry;
  });
  const changes = entries.map((event, index) => {
    const call = states[index] ?? first;
    return { type: 'append_call', call, event } as const;
  });
  return { states, changes, published: toPublished(entries) };
}

async function allEvents(store: Store, id: string): Promise<PublishedEvent[]> {
  const events: PublishedEvent[] = [];
  for (;;) {
    const page = await store.callEvents(id, { after: events.at(-1)?.version ?? 0, limit: 3 });
    if (page.length === 0) return events;
    events.push(...page);
  }
}

const large = { rows: Array.from({ length: 3_000 }, (_, index) => `row ${index}`) };

/** Events as every `Store` keeps them. */
export function describeEvents(setup: Setup) {
  test('[ST44] [ST82] events come back in order, page by page, after a restart too', async () => {
    const { store, reopen } = setup();
    const first = sampleCall();
    const made = history(first, [
      { type: 'offered', patch: { phase: 'offered', offeredAt: 5, provider: sampleProvider } },
      { type: 'status', patch: {}, shown: { params: { more: 1 }, argument_names: ['text'] } },
      { type: 'status', patch: { preview: large }, shown: { preview: large, tip: 'so far' } },
      { type: 'status', patch: { preview: undefined }, shown: { tip: null } },
      { type: 'edited', patch: { args: { a: large } } },
      {
        type: 'answered',
        actor: 'client:cl_1',
        via: { tokenId: null, address: '::1' },
        patch: { status: 'SUCCEEDED', phase: null, result: 'for the model', display: large },
      },
      { type: 'late_answer', patch: { lateResult: null }, shown: { late_result: true } },
    ]);
    for (const change of made.changes) await store.write([change]);
    for (const open of [async () => store, reopen]) {
      const one = await open();
      const events = await allEvents(one, first.id);
      expect(events).toEqual(made.published);
      for (const [index, state] of made.states.entries()) {
        expect(foldEvents(events.slice(0, index + 1))).toStrictEqual(state);
      }
      expect(await one.getCall(first.id)).toStrictEqual(made.states.at(-1));
      for (const after of [0, 1, 2, 3, 4, 5, 6, 7, 8]) {
        const page = await one.callEvents(first.id, { after, limit: 3 });
        expect(page).toEqual(made.published.slice(after, after + 3));
      }
      expect(await one.callEvents('tc_none', { after: 0, limit: 3 })).toEqual([]);
    }
  });

  test('[ST45] of two who decide on one version the second is refused, and others are not', async () => {
    const { store, reopen } = setup();
    const first = { ...sampleCall(), version: 1 };
    await store.write([appendCall(first)]);
    const cancelled = changed(first, { version: 2, status: 'FAILED', phase: null });
    const granted = changed(first, { version: 2, granted: true });
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
}
