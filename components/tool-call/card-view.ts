import type { CallClock, CallErrorCode } from '#lib/protocol/call-status';
import type { Card } from '#lib/protocol/card';

/** The looks of a card. Each has its own sentence, icon and word on the chip. */
export type CardViewKind =
  | 'streaming'
  | 'held'
  | 'approval'
  | 'question'
  | 'queued'
  | 'offered'
  | 'running'
  | 'device'
  | 'away'
  | 'cancelling'
  | 'done'
  | 'failed'
  | 'timeout'
  | 'denied'
  | 'expired'
  | 'repeated'
  | 'cancelled'
  | 'disconnected'
  | 'unknown'
  | 'invalid'
  | 'noProvider'
  | 'badResult';

export type Tone = 'wait' | 'attn' | 'doing' | 'success' | 'error' | 'cancel';

/** What a person may do with the call now. */
export interface CardActionsAllowed {
  readonly cancel: boolean;
  readonly decide: boolean;
  /** A question, in place of its tool. */
  readonly answer: boolean;
  readonly extend: boolean;
  readonly retry: boolean;
}

export interface CardView {
  readonly kind: CardViewKind;
  readonly tone: Tone;
  readonly isLive: boolean;
  readonly actions: CardActionsAllowed;
  /** The tool ran, or may have: doing it again may do it twice. */
  readonly mayRepeat: boolean;
}

/** The look of a card, from its data alone (rules CD1 to CD5); `mayAct`: the person may do something with it (CD28). */
export function cardView(card: Card, mayAct = true): CardView {
  const kind = viewKind(card);
  const isLive = card.status !== 'SUCCESS' && card.status !== 'ERROR';
  return {
    kind,
    tone: TONES[kind],
    isLive,
    actions: {
      cancel: mayAct && isLive && kind !== 'streaming' && kind !== 'cancelling',
      decide: mayAct && kind === 'approval',
      answer: mayAct && kind === 'question',
      extend: mayAct && mayExtend(card, kind),
      retry: mayAct && !isLive,
    },
    mayRepeat: card.status === 'SUCCESS' || mayHaveRun(card.error),
  };
}

/**
 * CD16: while the execute clock runs, which it does behind the resume clock too.
 * A paused one has no end to put off.
 */
function mayExtend(card: Card, kind: CardViewKind): boolean {
  if (kind === 'away') return card.phase === 'granted';
  return kind === 'running' && card.clock?.name === 'execute' && card.clock.deadline_at !== null;
}

/** CD5: a tool that reported itself that it failed is not warned about. */
const mayHaveRun = (error: Card['error']): boolean =>
  error ? error.executed !== 'no' && error.code !== 'tool_error' : false;

const TONES: Record<CardViewKind, Tone> = {
  streaming: 'wait',
  held: 'wait',
  approval: 'attn',
  question: 'attn',
  queued: 'wait',
  offered: 'doing',
  running: 'doing',
  device: 'doing',
  away: 'doing',
  cancelling: 'doing',
  done: 'success',
  failed: 'error',
  timeout: 'error',
  denied: 'cancel',
  expired: 'cancel',
  repeated: 'cancel',
  cancelled: 'cancel',
  disconnected: 'error',
  unknown: 'error',
  invalid: 'error',
  noProvider: 'error',
  badResult: 'error',
};

const BY_CODE: Record<CallErrorCode, CardViewKind> = {
  tool_error: 'failed',
  invalid_args: 'invalid',
  denied: 'denied',
  approval_expired: 'expired',
  cancelled: 'cancelled',
  no_provider: 'noProvider',
  client_disconnected: 'disconnected',
  outcome_unknown: 'unknown',
  result_invalid: 'badResult',
  result_too_large: 'badResult',
  interrupted: 'unknown',
  timeout: 'timeout',
};

function viewKind(card: Card): CardViewKind {
  switch (card.status) {
    case 'SUCCESS':
      return 'done';
    case 'ERROR':
      if (card.error?.reason === 'repeated_call') return 'repeated';
      return card.error ? BY_CODE[card.error.code] : 'failed';
    case 'DOING':
      return doingKind(card);
    case 'WAIT':
    case undefined:
      if (card.phase === 'approval') return card.question ? 'question' : 'approval';
      if (card.phase === 'held') return 'held';
      return card.phase === 'streaming' || card.partial ? 'streaming' : 'queued';
  }
}

function doingKind(card: Card): CardViewKind {
  if (card.phase === 'cancelling') return 'cancelling';
  // CD4: the grace clock runs only while the client is disconnected.
  if (card.clock?.name === 'resume') return 'away';
  // CD14: a client that does not claim never confirms that it took a call; its time runs all the same.
  if (card.phase === 'offered' && card.clock?.name === 'execute') return 'running';
  if (card.phase === 'offered' || card.phase === 'device') return card.phase;
  return 'running';
}

/** What the card's clock shows. Times in milliseconds. */
export type CardTime =
  | { readonly kind: 'none' }
  | { readonly kind: 'elapsed'; readonly elapsedMs: number }
  | { readonly kind: 'left'; readonly clock: CallClock; readonly leftMs: number }
  | {
      readonly kind: 'running';
      readonly elapsedMs: number;
      readonly limitMs: number;
      readonly leftMs: number;
      readonly isLate: boolean;
    }
  | { readonly kind: 'paused'; readonly elapsedMs: number; readonly limitMs: number }
  /** `waited`: it never started, and the time is that from its creation. */
  | { readonly kind: 'ran' | 'waited'; readonly elapsedMs: number };

/** Share of the limit after which the clock warns. */
const LATE_SHARE = 0.8;

/** What the clock shows at `now`, in milliseconds since the epoch (rules CD6 to CD9). */
export function cardTime(card: Card, now: number): CardTime {
  if (card.status === 'SUCCESS' || card.status === 'ERROR') return finalTime(card);
  const since = card.started_at ?? card.created_at;
  const { clock } = card;
  if (clock?.name === 'execute') return executeTime(card, clock, now);
  if (clock && clock.deadline_at !== null) {
    return {
      kind: 'left',
      clock: clock.name,
      leftMs: Math.max(0, clock.deadline_at * 1_000 - now),
    };
  }
  if (since === undefined) return { kind: 'none' };
  return { kind: 'elapsed', elapsedMs: Math.max(0, now - since * 1_000) };
}

function finalTime(card: Card): CardTime {
  const from = card.started_at ?? card.created_at;
  if (from === undefined || card.completed_at === undefined || card.completed_at === null) {
    return { kind: 'none' };
  }
  const kind = typeof card.started_at === 'number' ? 'ran' : 'waited';
  return { kind, elapsedMs: Math.max(0, (card.completed_at - from) * 1_000) };
}

/**
 * CD7: elapsed is counted back from the clock's end, so that time in which it
 * stood still does not count.
 */
function executeTime(card: Card, clock: NonNullable<Card['clock']>, now: number): CardTime {
  const budget = card.timeout_ms ?? 0;
  const endsAt = clock.deadline_at;
  const leftMs =
    endsAt === null ? (clock.remaining_ms ?? budget) : Math.max(0, endsAt * 1_000 - now);
  const limitMs = Math.max(budget, leftMs);
  const elapsedMs = limitMs - leftMs;
  if (endsAt === null) return { kind: 'paused', elapsedMs, limitMs };
  const isLate = limitMs > 0 && elapsedMs >= limitMs * LATE_SHARE;
  return { kind: 'running', elapsedMs, limitMs, leftMs, isLate };
}
