import type { Card, CardUpdate } from '../protocol/card.ts';
import type { Call, CallFields } from './call.ts';
import type { CallEventEntry, CallPatch, PublishedEvent } from './call-event.ts';
import { boundUpdate, mergeCard } from './merge-card.ts';
import { BARE_CALL, firstCard } from './new-call.ts';
import { describeChange } from './view.ts';

export interface Folded {
  readonly call: Call;
  /** People were shown this of the event. */
  readonly update: CardUpdate;
}

/**
 * The call after one more entry of its log (rule CE8). Pure, and the way in which a call comes back
 * from the disk: `decide` made the entry, and this does to the call before it what `decide` did.
 */
export function foldEvent(before: Call | undefined, entry: CallEventEntry): Folded {
  const { card, version } = entry;
  if (card)
    return { call: asCall({ ...wholeOf(entry), card }), update: entry.published?.update ?? {} };
  if (!before) return foldFirst(entry);
  const next = asCall({ ...before, ...entry.patch, version });
  const update = updateOf(before, next, entry);
  return { call: { ...next, card: mergeCard(before.card, update) }, update };
}

/** The call after these entries, of which the first follows `before`. Undefined for none. */
export function foldEvents(entries: readonly CallEventEntry[], before?: Call): Call | undefined {
  let call = before;
  for (const entry of entries) if (!isMoved(entry)) ({ call } = foldEvent(call, entry));
  return call;
}

/** The entries with what follows from them and those before. */
export function toPublished(entries: readonly CallEventEntry[], before?: Call): PublishedEvent[] {
  let call = before;
  return entries.map((entry) => {
    if (isMoved(entry)) return { ...entry, ...entry.published };
    const folded = foldEvent(call, entry);
    ({ call } = folded);
    return { ...entry, attempt: call.provider?.attempt ?? 0, update: folded.update };
  });
}

type MovedEntry = CallEventEntry & Required<Pick<CallEventEntry, 'published'>>;

/** One from before the log: the entry that has all of the call has what it changed. */
const isMoved = (entry: CallEventEntry): entry is MovedEntry => !!entry.published && !entry.card;

/** A log has what was decided: together its fields are those of a phase. */
const asCall = (fields: CallFields): Call => fields as Call;

/** The first entry has each field that is not as in a call without anything, those of `NewCall` among them. */
const wholeOf = ({ patch, version }: CallEventEntry): CallFields => ({
  ...BARE_CALL,
  ...patch,
  version,
});

/** Its update is the whole card. */
function foldFirst(entry: CallEventEntry): Folded {
  const fields = wholeOf(entry);
  const { status, phase, deadlines } = BARE_CALL;
  const bare = asCall({ ...fields, status, phase, deadlines, provider: undefined });
  const first = { ...firstCard(bare, null), ...entry.shown } as Card; // Which has its params.
  const next = asCall({ ...fields, card: first });
  // A call that may wait begins as such: its first decision is in the same entry.
  const isDecided = next.phase !== phase;
  const update = isDecided ? updateOf({ ...bare, card: first }, next, entry) : {};
  const card = mergeCard(first, update);
  return { call: { ...next, card }, update: card };
}

function updateOf(before: Call, next: Call, entry: CallEventEntry): CardUpdate {
  const { type, at, patch, shown = {} } = entry;
  if (type === 'status') {
    // A preview that is shown whole is in the patch alone.
    const { preview } = patch;
    return preview === undefined || shown.preview !== undefined ? shown : { ...shown, preview };
  }
  if (before.phase === null) return shown;
  // Deadlines were set at the mark that came with them.
  const now = { wall: at, steady: next.clockMark ?? 0 };
  return boundUpdate(before.card, { ...describeChange(before, next, now), ...shown });
}

/** The first entry says this of a call, so that the fold of it is the call. */
export function firstEntryOf(call: Call): Pick<CallEventEntry, 'patch' | 'shown'> {
  return { patch: patchOf(BARE_CALL, call), shown: factsOf(call) };
}

/** Values are compared by identity: what a decision does not change stays the same value. */
export function patchOf(before: CallFields, after: CallFields): CallPatch {
  const patch: Record<string, unknown> = {};
  // A loop over the names: this is done for each event of a call.
  for (const name in after) {
    const field = name as keyof CallFields;
    // guard: each-change-in-the-log
    if (before[field] !== after[field] && !NOT_PATCHED.has(name)) patch[name] = after[field];
  }
  return patch;
}

const NOT_PATCHED = new Set(['card', 'version']);

/** The first card has these, which do not follow from the record. */
function factsOf(call: Call): CardUpdate {
  const facts: Record<string, unknown> = {};
  for (const name in call.card) {
    const value = call.card[name as keyof Card];
    if (!followsFrom(call, name as keyof Card, value)) facts[name] = value;
  }
  return facts;
}

function followsFrom(call: Call, name: keyof Card, value: unknown): boolean {
  switch (name) {
    case 'status':
    case 'phase':
    case 'params':
    case 'params_bytes':
    case 'truncated':
    case 'clock':
    case 'tool_name':
    case 'created_at':
    case 'retry_of':
    case 'parent_call_id':
    case 'model_call_id':
    case 'requested_by':
      return true;
    case 'source':
      return value === call.source;
    case 'attempt':
      return value === (call.provider?.attempt ?? 0);
    case 'client_id':
      return value === call.provider?.clientId && value !== undefined;
    case 'timeout_ms':
      return value === call.timeoutMs;
    case 'display_name':
      return value === null;
    case 'partial':
      return value === false && call.phase !== 'streaming';
    default:
      return value === undefined;
  }
}
