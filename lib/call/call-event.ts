import type { CallClock } from '../protocol/call-status.ts';
import type { Card, CardUpdate } from '../protocol/card.ts';
import type { ApprovalTerms } from './approval-terms.ts';
import type { CallFields, CallHead, Ended } from './call.ts';
import type { Answerer, StateEvent } from './call-state.ts';
import type { ClientKnowledge } from './resume-matrix.ts';

/** The one who caused an event: `operator`, `operator:<name>`, `agent:<name>`, `run:<id>`, `client:<id>`, `hook:<name>`, `server`. */
export type ActorName = string;

/** How a caller over HTTP caused it. */
export interface Via {
  /** Null: the token of the first run. */
  readonly tokenId: string | null;
  /** It is the peer's. */
  readonly address: string;
}

export type Actor = ActorName | { readonly name: ActorName; readonly via: Via };

/** Fields that an event brings besides what follows from the transition itself. */
export type EventFields = Partial<
  Pick<
    CallHead,
    | 'args'
    | 'attachments'
    | 'annotations'
    | 'timeoutMs'
    | 'source'
    | 'toolProvider'
    | 'trusted'
    | 'wantedClientId'
    | 'routing'
  > &
    Pick<Ended, 'result' | 'display' | 'resultHash'>
>;

/** Events that `transition` takes as they are. */
type PlainStateEvent = Exclude<StateEvent, { type: 'approved' | 'clock' | 'instance_back' }>;

/**
 * These may happen to a call. `fields` and `shown` are what the event brings into the record and
 * onto the card; everything else follows from the event's type.
 */
export type CallEvent = (
  | PlainStateEvent
  /** `terms`: not there where nobody was shown this very call. */
  | { readonly type: 'approved'; readonly terms?: ApprovalTerms | undefined }
  | {
      readonly type: 'clock';
      readonly clock: CallClock;
      /** Before its time, as the client was revoked and cannot come back. */
      readonly isRevoked?: boolean;
      /** At the end of `start` the asked client keeps its turn, as it is busy or there is no other. */
      readonly isKept?: boolean;
    }
  /** The instance that has the call is disconnected. */
  | { readonly type: 'client_left' }
  /** It is connected again; `knowledge` is what its journal has of this attempt. */
  | {
      readonly type: 'client_back';
      readonly instanceId: string;
      readonly knowledge: ClientKnowledge;
    }
  /** The server started on what an earlier one left. */
  | {
      readonly type: 'recovered';
      /** To the steady clock, from deadlines of before, which are wall times. */
      readonly shiftMs: number;
      /** Its work goes on outside, and is taken up. */
      readonly goesOn?: boolean;
    }
  | { readonly type: 'extended'; readonly byMs: number }
  /** Its tool, which has `ownMs` each time and `mostMs` in all, shows that it is at work. */
  | { readonly type: 'extended'; readonly ownMs: number; readonly mostMs: number }
  /** Its tool shows something of its work, or a model of the arguments that it still writes (`sketch`). */
  | {
      readonly type: 'status' | 'sketch';
      /** Not there where it is the server that shows it. */
      readonly from?: Answerer | undefined;
    }
  /** A call that works for it begins or ceases to wait for a person. */
  | { readonly type: 'below_waits'; readonly isWaiting: boolean }
  /** An answer after the end: it repeats the one that stands, or is kept beside the call. */
  | (Omit<Extract<StateEvent, { type: 'answered' }>, 'type'> & { readonly type: 'late_answer' })
) & { readonly fields?: EventFields; readonly shown?: CardUpdate };

/** An event changed this in the record, beside the card and the version. */
export type CallPatch = Omit<CallFields, 'card' | 'version'>;

/**
 * One entry of a call's log. The record of version n is the record of n - 1 with `patch`; its card
 * follows from both and from `shown` (see `foldEvent`). The first one patches a call without anything.
 */
export interface CallEventEntry {
  /** 1 for the first, one more for each after it. */
  readonly version: number;
  /** `created`, `imported`, `status` (what a running tool shows), or the type of a `CallEvent`. */
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly actor: ActorName;
  /** Not there where no request over HTTP caused it, and in events of before. */
  readonly via?: Via;
  readonly patch: CallPatch;
  /** People are shown this of it beside what follows from the patch. */
  readonly shown?: CardUpdate;
  /** The card as it is; then `patch` is the whole record, and nothing before it is needed. */
  readonly card?: Card;
  /** People were shown this of it, where nothing else tells: of events from before the log. */
  readonly published?: Pick<PublishedEvent, 'attempt' | 'update'>;
}

/** An entry with what follows from it and those before. */
export interface PublishedEvent extends CallEventEntry {
  /** It is the provider's, after the event; 0 before the first offer. */
  readonly attempt: number;
  /** People were shown this of it. */
  readonly update: CardUpdate;
}
