import { isFinalCard, mergeCard } from '#lib/call/merge-card';
import type { Card, CardUpdate } from '#lib/protocol/card';
import type { Message, RunSummary } from '#lib/protocol/run';
import type { Snapshot, WatchEvent } from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';
import { type ErrorFrame, errorFrame, type ServerFrame } from './chat-frames.ts';

/** Characters of a turn's text that `done` repeats. */
const MOST_TEXT = 4 * 1024 * 1024;
/** Between texts that the model wrote before and after a call. */
const BREAK = '\n\n';

type Kind = 'text' | 'reasoning';

interface ShownCall {
  readonly card: Card;
  /** `tool_call` was sent. */
  readonly isShown: boolean;
}

/**
 * Turns the events of one run into the frames of a chat, one turn after the
 * other. What it keeps is of the turn that runs.
 */
export class TurnFrames {
  #isRunning = false;
  #title: string | undefined;
  #text = '';
  /** Characters that were sent, by message and part. */
  readonly #sent = new Map<string, number>();
  readonly #calls = new Map<string, ShownCall>();

  readonly #now: () => number;

  /** `title`: what the app has already. */
  constructor(title: string | undefined, now: () => number) {
    this.#title = title;
    this.#now = now;
  }

  /** The turn that runs, up to this snapshot: in place of what the app has of it. */
  begin({ runs, calls }: Pick<Snapshot, 'runs' | 'calls'>, runId: string): ServerFrame[] {
    const run = runs.find(({ run_id }) => run_id === runId);
    if (run?.status !== 'running') return [];
    this.#isRunning = true;
    const asked = run.messages.findLastIndex(({ role }) => role === 'user');
    const texts = run.messages.slice(asked + 1).flatMap((message) => this.#message(message));
    const open = calls
      .filter((call) => call.run_id === runId && !isFinalCard(call.card))
      .flatMap((call) => this.#call(call.tool_call_id, call.card));
    return [{ type: 'chunk_reset' }, ...texts, ...open];
  }

  take(event: WatchEvent): ServerFrame[] {
    switch (event.type) {
      case 'run':
        return this.#run(event.run);
      case 'message':
        return this.#message(event.message);
      case 'message_delta':
        return this.#grow(`${event.message_id} ${event.index}`, event.part, event.delta);
      case 'call':
        return this.#call(event.tool_call_id, event.update);
      default:
        return [];
    }
  }

  #run(run: RunSummary): ServerFrame[] {
    const title: ServerFrame[] =
      run.title === this.#title ? [] : [{ type: 'title_updated', title: run.title }];
    this.#title = run.title;
    const hasEnded = this.#isRunning && run.status !== 'running';
    this.#isRunning = run.status === 'running';
    if (!hasEnded) return title;
    const end = endOf(run, this.#text);
    this.#text = '';
    this.#sent.clear();
    return [...title, end];
  }

  /** What of it no delta brought. */
  #message({ role, message_id, parts }: Message): ServerFrame[] {
    if (role !== 'assistant') return [];
    return parts.flatMap((part, index) => {
      if (part.type !== 'text' && part.type !== 'reasoning') return [];
      const key = `${message_id} ${index}`;
      return this.#grow(key, part.type, part.text.slice(this.#sent.get(key) ?? 0));
    });
  }

  #grow(key: string, kind: Kind, text: string): ServerFrame[] {
    if (text === '') return [];
    const sent = this.#sent.get(key);
    this.#sent.set(key, (sent ?? 0) + text.length);
    if (kind === 'reasoning') return [{ type: 'thinking', content: text }];
    const content = sent === undefined && this.#text !== '' ? BREAK + text : text;
    this.#text += content.slice(0, Math.max(0, MOST_TEXT - this.#text.length));
    return [{ type: 'chunk', content }];
  }

  #call(id: string, update: CardUpdate): ServerFrame[] {
    const before = this.#calls.get(id);
    // Of a call that has ended: its answer came late.
    if (!before && update.tool_name === undefined) return [];
    const card = mergeCard(before?.card, update);
    const { tool_name: name, phase, params: args } = card;
    const isComplete = name !== undefined && phase !== 'streaming' && card.partial !== true;
    const isNew = isComplete && !before?.isShown;
    if (isFinalCard(card)) this.#calls.delete(id);
    else this.#calls.set(id, { card, isShown: isComplete || before?.isShown === true });
    const isLater = before?.isShown && before.card.phase === 'approval';
    const clock = card.clock?.deadline_at;
    const waits = phase === 'approval' && !(isLater && before.card.clock?.deadline_at === clock);
    return [
      ...(isNew ? [{ type: 'tool_call', id, name, args } as const] : []),
      ...(isComplete && waits ? [waitingOf({ id, name }, card, this.#now())] : []),
      ...(isFinalCard(card) && name !== undefined ? [resultOf(id, name, card)] : []),
    ];
  }
}

function endOf(run: RunSummary, text: string): ServerFrame {
  switch (run.status) {
    case 'cancelled':
      return { type: 'aborted' };
    case 'failed':
      return toError(run.error);
    case 'running':
    case 'idle':
      return { type: 'done', full_response: text };
  }
}

const AUTH_CODES = new Set(['model_unauthenticated', 'no_api_key']);
const PROVIDER_CODE = /^(?:model_|endpoint_|stream_cut$|context_too_long$|tools_not_supported$)/;

/** ClawSeed's three kinds of failure. */
function toError(error: RunSummary['error']): ErrorFrame {
  const { code = '', message = 'The turn failed.' } = error ?? {};
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
  const { status, result, error } = card;
  const success = status === 'SUCCESS';
  const failure = success || !error ? undefined : { code: error.code, message: error.message };
  const output = success ? textOf(result) : (failure?.message ?? 'Unknown error');
  return { type: 'tool_result', id, name, output, success, ...given({ error: failure }) };
}

const textOf = (result: unknown): string =>
  typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
