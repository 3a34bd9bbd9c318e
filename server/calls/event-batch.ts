import type { Call } from '#lib/call/call';
import type { Actor, CallEvent, CallEventEntry } from '#lib/call/call-event';
import type { Decision } from '#lib/call/decide';
import type { Effect } from '#lib/call/effects';
import type { Recovery } from '#lib/call/engine-loop';
import { firstEntryOf, patchOf } from '#lib/call/fold';
import { mergeUpdates } from '#lib/call/merge-card';
import type { CardUpdate } from '#lib/protocol/card';
import { given } from '#lib/util/given';
import type { Change } from '../store/room.ts';
import type { CallEntry } from './call-repository.ts';

/** Events of one call that are appended in one write, and what follows from them. */
export class EventBatch {
  /** The state after the newest event; before the first, the one that it was opened on. */
  record: Call;
  readonly changes: Change[] = [];
  /** In the order in which they are published. */
  readonly updates: CardUpdate[] = [];
  readonly effects: { readonly effect: Effect; readonly record: Call }[] = [];
  /** The version of the newest offer among them. */
  offerVersion: number | undefined;
  /** The event by which a start takes the call up, when it is among them. */
  recovery: Recovery | undefined;
  readonly #at: number;

  constructor(record: Call, at: number) {
    this.record = record;
    this.#at = at;
  }

  /** The event that a call begins with; its update is the whole card. */
  addFirst(record: Call, actor: Actor): void {
    this.#append('created', actor, record, firstEntryOf(record), record.card);
  }

  add(event: CallEvent, actor: Actor, decided: Extract<Decision, { ok: true }>): void {
    const { record, update, shown } = decided;
    const patch = patchOf(this.record, record);
    this.#append(event.type, actor, record, { patch, shown }, update);
    const { version } = this.record;
    if (event.type === 'offered') this.offerVersion = version;
    else if (event.type === 'recovered') this.recovery = { event, version };
  }

  /** Adds what a running tool has shown since the last event, which the record has already. */
  addStatus(update: CardUpdate, actor: Actor): void {
    const { preview } = this.record;
    const { preview: shownPreview, ...shown } = update;
    const isCut = shownPreview !== undefined && shownPreview !== preview;
    this.#append(
      'status',
      actor,
      this.record,
      {
        patch: shownPreview === undefined ? {} : { preview },
        shown: isCut ? update : shown,
      },
      update,
    );
  }

  #append(
    type: string,
    actor: Actor,
    record: Call,
    { patch, shown }: Pick<CallEventEntry, 'patch' | 'shown'>,
    update: CardUpdate,
  ): void {
    const version = this.record.version + 1;
    const call = { ...record, version };
    const by = typeof actor === 'string' ? { actor } : { actor: actor.name, via: actor.via };
    const event = { version, type, at: this.#at, ...by, patch, ...given({ shown }) };
    this.changes.push({ type: 'append_call', call, event });
    this.updates.push(update);
    this.record = call;
  }
}

/** It waits for the next event, as one with what waits already. */
export function joinStatus(entry: CallEntry, update: CardUpdate, from: Actor): void {
  const { pendingStatus } = entry;
  entry.pendingStatus = pendingStatus ? mergeUpdates(pendingStatus, update) : update;
  entry.statusFrom = from;
}

/** What its tool has shown since the last event goes with the next one. */
export function takeStatus(entry: CallEntry, batch: EventBatch, now: number): void {
  const { pendingStatus, statusFrom, statusPace, stopStatus } = entry;
  stopStatus?.();
  entry.stopStatus = undefined;
  entry.pendingStatus = undefined;
  if (!pendingStatus) return;
  statusPace.appended(now, pendingStatus, entry.latest.preview);
  batch.addStatus(pendingStatus, statusFrom);
}
