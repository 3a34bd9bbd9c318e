import { isFinalCard } from '#lib/call/merge-card';
import type { Card } from '#lib/protocol/card';
import type { RunRecord, RunSummary } from '#lib/protocol/run';
import { given } from '#lib/util/given';
import {
  BREAK,
  failureOf,
  isWritten,
  outputOf,
  type ShownCalls,
  type TurnEvent,
  type TurnStream,
} from '../room.ts';
import { type ErrorFrame, errorFrame, type ServerFrame } from './chat-frames.ts';

/** Characters of a turn's text that `done` repeats. */
const MOST_TEXT = 4 * 1024 * 1024;

/** Renders the events of one run as the frames of a chat, one turn after the other. */
export class TurnFrames {
  #title: string | undefined;
  #text = '';
  /** Calls that go on, as the app was shown them. */
  readonly #calls = new Map<string, Card>();
  readonly #now: () => number;

  /** `title`: the one that the app has already. */
  constructor(title: string | undefined, now: () => number) {
    this.#title = title;
    this.#now = now;
  }

  /** Renders the turn that runs as far as it is, in place of what the app has of it. */
  begin({ messages }: RunRecord, calls: ShownCalls, stream: TurnStream): ServerFrame[] {
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const texts = stream.replay(messages.slice(asked + 1)).flatMap((event) => this.take(event));
    const open = calls.filter(({ card }) => !isFinalCard(card));
    return [
      { type: 'chunk_reset' },
      ...texts,
      ...open.flatMap(({ id, card }) => this.#call(id, card)),
    ];
  }

  take(event: TurnEvent): ServerFrame[] {
    switch (event.type) {
      case 'run': {
        const { title } = event.run;
        if (title === this.#title) return [];
        this.#title = title;
        return [{ type: 'title_updated', title }];
      }
      case 'text': {
        const content = event.isFirst && this.#text !== '' ? BREAK + event.delta : event.delta;
        this.#text += content.slice(0, Math.max(0, MOST_TEXT - this.#text.length));
        return [{ type: 'chunk', content }];
      }
      case 'reasoning':
        return [{ type: 'thinking', content: event.delta }];
      case 'call':
        return event.isLate ? [] : this.#call(event.id, event.card);
      case 'end': {
        const text = this.#text;
        this.#text = '';
        return [endOf(event.run, text)];
      }
      default:
        return [];
    }
  }

  #call(id: string, card: Card): ServerFrame[] {
    const { tool_name: name, params: args } = card;
    const before = this.#calls.get(id);
    if (isFinalCard(card)) this.#calls.delete(id);
    else this.#calls.set(id, card);
    if (name === undefined || !isWritten(card)) return [];
    const isNew = !before || !isWritten(before);
    return [
      ...(isNew ? [{ type: 'tool_call', id, name, args } as const] : []),
      ...(waits(card) && !(before && waitsAsBefore(before, card))
        ? [waitingOf({ id, name }, card, this.#now())]
        : []),
      ...(isFinalCard(card) ? [resultOf(id, name, card)] : []),
    ];
  }
}

const waits = ({ phase }: Card): boolean => phase === 'approval';

const waitsAsBefore = (before: Card, { clock }: Card): boolean =>
  isWritten(before) && waits(before) && before.clock?.deadline_at === clock?.deadline_at;

function endOf(run: RunSummary, text: string): ServerFrame {
  switch (run.status) {
    case 'cancelled':
      return { type: 'aborted' };
    case 'failed':
      return toError(run);
    case 'running':
    case 'idle':
      return { type: 'done', full_response: text };
  }
}

const AUTH_CODES = new Set(['model_unauthenticated', 'no_api_key']);
const PROVIDER_CODE = /^(?:model_|endpoint_|stream_cut$|context_too_long$|tools_not_supported$)/;

/** ClawSeed has three kinds of failure. */
function toError(run: RunSummary): ErrorFrame {
  const { code, message } = failureOf(run);
  if (AUTH_CODES.has(code)) return errorFrame('AUTH_ERROR', message);
  return errorFrame(PROVIDER_CODE.test(code) ? 'PROVIDER_ERROR' : 'AGENT_ERROR', message);
}

function waitingOf(
  call: { readonly id: string; readonly name: string },
  { clock, question }: Card,
  now: number,
): ServerFrame {
  const isQuestion = question !== undefined;
  const until = clock?.deadline_at;
  const left = until ? { remaining_ms: Math.max(0, Math.round(until * 1_000 - now)) } : {};
  const message = isQuestion
    ? 'A person is asked in the workbench.'
    : 'A person decides in the workbench whether it may run.';
  return {
    type: 'tool_call_waiting',
    ...call,
    for: isQuestion ? 'answer' : 'approval',
    ...left,
    message,
  };
}

function resultOf(id: string, name: string, card: Card): ServerFrame {
  const success = card.status === 'SUCCESS';
  const { error } = card;
  const failure = success || !error ? undefined : { code: error.code, message: error.message };
  const output = success || failure ? outputOf(card) : 'Unknown error';
  return { type: 'tool_result', id, name, output, success, ...given({ error: failure }) };
}
