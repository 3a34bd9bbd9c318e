import type { Actor, CallEvent, CallPatch } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import type { Decision } from '#lib/call/decide';
import type { Effect } from '#lib/call/effects';
import type { Recovery } from '#lib/call/engine-loop';
import { mergeUpdates } from '#lib/call/merge-updates';
import type { CardUpdate } from '#lib/protocol/card';
import type { Change } from '../store/store.ts';

/** Events of one call that are appended in one write, and what follows from them. */
export class EventBatch {
  /** The state after the newest event; before the first, the one that it was opened on. */
  record: CallRecord;
  readonly changes: Change[] = [];
  /** In the order in which they are published. */
  readonly updates: CardUpdate[] = [];
  readonly effects: { readonly effect: Effect; readonly record: CallRecord }[] = [];
  /** The version of the newest offer among them. */
  offerVersion: number | undefined;
  /** The event by which a start takes the call up, when it is among them. */
  recovery: Recovery | undefined;
  readonly #at: number;

  constructor(record: CallRecord, at: number) {
    this.record = record;
    this.#at = at;
  }

  /** The event that a call begins with; its update is the whole card. */
  addFirst(record: CallRecord, actor: Actor): void {
    this.#append('created', actor, record, {}, [record.card]);
  }

  add(event: CallEvent, actor: Actor, { record, update }: Extract<Decision, { ok: true }>): void {
    this.#append(event.type, actor, record, patchOf(this.record, record), [update]);
    const { version } = this.record;
    if (event.type === 'offered') this.offerVersion = version;
    else if (event.type === 'recovered') this.recovery = { event, version };
  }

  /** What a running tool has shown since the last event, which the record has already. */
  addStatus(updates: readonly CardUpdate[], actor: Actor): void {
    if (updates.length === 0) return;
    const { preview } = this.record;
    const hasPreview = updates.some((update) => update.preview !== undefined);
    this.#append('status', actor, this.record, hasPreview ? { preview } : {}, updates);
  }

  #append(
    type: string,
    actor: Actor,
    record: CallRecord,
    patch: CallPatch,
    updates: readonly CardUpdate[],
  ): void {
    const version = this.record.version + 1;
    const call = { ...record, version };
    const attempt = call.provider?.attempt ?? 0;
    const update = updates.reduce(mergeUpdates);
    const by = typeof actor === 'string' ? { actor } : { actor: actor.name, via: actor.via };
    const event = { version, type, at: this.#at, ...by, attempt, patch, update };
    this.changes.push({ type: 'append_call', call, event });
    this.updates.push(...updates);
    this.record = call;
  }
}

/** By identity: what a decision does not change stays the same value. */
function patchOf(before: CallRecord, after: CallRecord): CallPatch {
  const patch: Record<string, unknown> = {};
  // A loop over the names: this is done for each event of a call.
  for (const name in after) {
    const field = name as keyof CallRecord;
    if (before[field] !== after[field] && !NOT_PATCHED.has(name)) patch[name] = after[field];
  }
  return patch;
}

const NOT_PATCHED = new Set(['id', 'card', 'version']);
