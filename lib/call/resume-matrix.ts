import { isFinalStatus } from '../protocol/is-final-status.ts';
import type { Call } from './call.ts';
import { hasJournal, isRerunnable } from './call.ts';

/** A client that came back knows this of a call. */
export type ClientKnowledge =
  /** Its journal is the one it had, and holds nothing of the call: it never started it. */
  | 'nothing'
  /** Its journal is a new one: what it held is lost. */
  | 'nothing_new_journal'
  /** The program lives and still runs it. */
  | 'running'
  /** Started, and the page died in the middle. */
  | 'started'
  /** Finished; the result is in the outbox. */
  | 'done';

export type ResumeAction =
  /** Offer it again, under the next attempt. */
  | 'offer'
  /** Its answer is on the way, or it is none of the client's business. */
  | 'leave'
  | 'outcome_unknown'
  /** The client may delete what it has of it. */
  | 'forget'
  /** The client shall stop what it still runs of it. */
  | 'cancel';

/** An instance of a client that is back, as it has proved to be. */
export interface ReturningClient {
  readonly clientId: string;
  readonly instanceId: string;
  readonly journalEpoch: string | null;
}

/** It has this of a call. */
export interface JournalEntry {
  readonly attempt: number;
  readonly phase: 'running' | 'started' | 'done';
}

/**
 * Finds what a client that is back has of a call, and what follows. A call is of the instance that was
 * asked: to name a call is no ownership, and what a journal has of an older attempt proves nothing
 * of the one that counts now.
 */
export function onReturn(
  call: Call | undefined,
  entry: JournalEntry | undefined,
  client: ReturningClient,
): {
  /** The call, if it is this client's. */
  readonly mine: Call | undefined;
  readonly knowledge: ClientKnowledge;
  readonly action: ResumeAction;
} {
  const mine = isOf(call, client) ? call : undefined;
  const isOfThis = !mine || entry?.attempt === mine.provider?.attempt || isFinalStatus(mine.status);
  const knowledge = knowledgeOf(mine, isOfThis ? entry : undefined, client);
  return { mine, knowledge, action: actionOnReturn(mine, knowledge) };
}

const isOf = (call: Call | undefined, { clientId, instanceId }: ReturningClient): boolean =>
  call?.provider?.clientId === clientId && call.provider.instanceId === instanceId;

function knowledgeOf(
  call: Call | undefined,
  entry: JournalEntry | undefined,
  { journalEpoch }: ReturningClient,
): ClientKnowledge {
  if (entry) return entry.phase;
  // guard: journal-epoch-compared
  const isSameJournal = journalEpoch !== null && call?.provider?.journalEpoch === journalEpoch;
  return isSameJournal ? 'nothing' : 'nothing_new_journal';
}

/**
 * Says what is done with one call when its client comes back (rules RM in SPEC.md). Undefined is one that
 * is not known here, or not this client's.
 */
export function actionOnReturn(call: Call | undefined, client: ClientKnowledge): ResumeAction {
  if (!call?.phase) return endedElsewhere(call !== undefined, client); // RM6
  // A call that may have had an effect is not asked for twice.
  if (!hasJournal(call)) return isRerunnable(call) ? 'offer' : 'leave'; // RM5
  switch (call.phase) {
    case 'streaming':
    case 'held':
    case 'approval':
    case 'queued':
      return 'leave';
    case 'cancelling':
      return client === 'running' ? 'cancel' : 'leave';
    case 'offered':
      // Possibly granted before a restart: its client is believed as if it was.
      if (call.granted) return granted(client, isRerunnable(call));
      return client === 'done' || client === 'running' ? 'leave' : 'offer';
    case 'granted':
    case 'device':
      return granted(client, isRerunnable(call));
  }
}

function granted(client: ClientKnowledge, rerunnable: boolean): ResumeAction {
  switch (client) {
    case 'running':
    case 'done':
      return 'leave';
    case 'nothing':
      // The journal is written before the tool runs, so the grant never arrived.
      return 'offer';
    case 'nothing_new_journal':
    case 'started':
      // guard: lost-journal-proves-nothing
      return rerunnable ? 'offer' : 'outcome_unknown';
  }
}

function endedElsewhere(isKnown: boolean, client: ClientKnowledge): ResumeAction {
  if (client === 'running') return 'cancel';
  // A result is answered one by one when it arrives: late, duplicate or rejected for good.
  if (client === 'done') return 'leave';
  return isKnown || client === 'started' ? 'forget' : 'leave';
}
