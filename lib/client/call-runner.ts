import type { ClientMessage, ClientMessageOf } from '../protocol/client-messages.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { ServerMessage, ServerMessageOf } from '../protocol/server-messages.ts';
import { errorMessage } from '../util/error-message.ts';
import { createTurnQueue } from '../util/turn-queue.ts';
import { type ClientToolDefinition, isRepeatable } from './client-tool.ts';
import { encodeFailure } from './encode-answer.ts';
import type { ClientEnvironment } from './environment.ts';
import type { CallAnswer, Journal, JournalEntry } from './journal.ts';
import { createOutbox } from './outbox.ts';
import { type RunningCall, startCall } from './running-call.ts';
import { ToolFailure } from './tool-failure.ts';
import type { UploadBlob } from './upload-blob.ts';

type Request = ServerMessageOf<'tool_call_request'>;
type Known = NonNullable<ClientMessageOf<'hello'>['known']>[number];

/** A call by how far it has come on this side. */
type Call =
  | { readonly state: 'waiting'; readonly request: Request }
  | { readonly state: 'claimed'; readonly request: Request; readonly claimedAt: number }
  | { readonly state: 'cancelled'; readonly request: Request; readonly reason: string }
  | { readonly state: 'running'; readonly request: Request; readonly run: RunningCall }
  | { readonly state: 'answered'; readonly phase: 'done' | 'started'; readonly entry: Answered };
type Answered = JournalEntry & { readonly answer: CallAnswer };

/** Messages come twice soon or never. */
const CALLS_REMEMBERED_AS_OVER = 1_000;

export interface CallRunnerOptions {
  readonly journal: Journal;
  /** What the journal held when it was opened. */
  readonly remembered: readonly JournalEntry[];
  readonly environment: Pick<ClientEnvironment, 'now' | 'schedule'>;
  findTool(name: string): ClientToolDefinition | undefined;
  /** False when there is no connection. */
  send(message: ClientMessage): boolean;
  readonly uploadBlob: UploadBlob | undefined;
  readonly onProblem: (message: string) => void;
}

/**
 * The calls of one client instance: claims them, runs each at most once, keeps
 * the answers until they are acknowledged. It knows nothing of sockets and
 * reconnecting; it is told of both.
 */
export interface CallRunner {
  /**
   * For `hello`: what this instance knows of its calls, as many as one may tell;
   * with `isAll`, it knows of no others.
   */
  known(): { readonly calls: Known[]; readonly isAll: boolean };
  /** Takes what the server says of calls; other messages are not for it. */
  receive(message: ServerMessage): void;
  /** After `welcome`: drops, cancels, and sends again what was not acknowledged. */
  resume(welcome: Pick<ServerMessageOf<'welcome'>, 'forget' | 'cancel'>): void;
  /** What was offered and not granted is gone with the connection. */
  disconnected(): void;
  /** Aborts what runs; resolves when all of it has ended. With `discard`, nothing is kept of it. */
  close(options: { reason: string; discard: boolean }): Promise<void>;
}

/** A runner that goes on from what the journal remembers. */
export function createCallRunner(options: CallRunnerOptions): CallRunner {
  const { journal, environment, findTool, send, onProblem } = options;
  // In the order of their answers, for those that have one: resent in that order.
  const calls = new Map<string, Call>();
  /** Attempts claimed for calls that already ran or run here: to answer, not to run again. */
  const reclaimed = new Map<string, number>();
  /** The newest attempts of calls that are over, so that a message that comes twice runs nothing. */
  const over = new Map<string, number>();
  /** Answers that the journal is being told of: they are sent when it has them. */
  const unwritten = new Set<Answered>();
  const turns = createTurnQueue();
  const outbox = createOutbox({ environment, answerOf, send });
  let discarding = false;

  for (const entry of options.remembered) {
    if (entry.answer) calls.set(entry.id, answered({ ...entry, answer: entry.answer }, 'done'));
    else if (!entry.repeatable) calls.set(entry.id, answered(diedInTheMiddle(entry), 'started'));
    else forget(entry.id);
  }

  function answerOf(id: string): CallAnswer | undefined {
    const call = calls.get(id);
    return call?.state === 'answered' && !unwritten.has(call.entry) ? call.entry.answer : undefined;
  }

  function offer(request: Request) {
    const call = calls.get(request.id);
    if (call?.state === 'running' || call?.state === 'answered') return offerAgain(call, request);
    const known = call?.state === 'claimed' || call?.state === 'waiting';
    if (known && call.request.attempt >= request.attempt) return;
    if ((over.get(request.id) ?? 0) >= request.attempt) return;
    const limit = findTool(request.name)?.concurrency ?? 1;
    if (turns.enter(request.name, request.id, limit)) claim(request);
    else calls.set(request.id, { state: 'waiting', request });
  }

  /** CL6: never run twice. A new attempt is claimed only to answer it from here. */
  function offerAgain(call: Call & { state: 'running' | 'answered' }, request: Request) {
    const { id, attempt } = request;
    const current = call.state === 'running' ? call.run.attempt : call.entry.attempt;
    if (attempt > current) {
      reclaimed.set(id, attempt);
      send({ type: 'tool_call_claim', id, attempt });
    } else if (call.state === 'answered') outbox.send(id);
  }

  function claim(request: Request) {
    const { id, attempt } = request;
    calls.set(id, { state: 'claimed', request, claimedAt: environment.now() });
    send({ type: 'tool_call_claim', id, attempt });
  }

  function grant({ id, attempt, remaining_ms }: ServerMessageOf<'tool_call_granted'>) {
    const call = calls.get(id);
    if (reclaimed.get(id) === attempt) return grantAgain(id, attempt);
    if (call?.state === 'cancelled' && call.request.attempt === attempt) {
      const failure = new ToolFailure('cancelled', `Cancelled before it started: ${call.reason}`);
      finish(call.request, encodeFailure(call.request, failure));
    } else if (call?.state === 'claimed' && call.request.attempt === attempt) {
      // Counted from the claim: a program frozen since then must not run late (CL8).
      const remainingMs = remaining_ms - (environment.now() - call.claimedAt);
      start(call.request, remainingMs);
    }
  }

  function start(request: Request, remainingMs: number) {
    const tool = findTool(request.name);
    const run = startCall({ ...options, request, tool, remainingMs });
    calls.set(request.id, { state: 'running', request, run });
    void run.ended.then((answer) => finish(request, { ...answer, attempt: run.attempt }));
  }

  function grantAgain(id: string, attempt: number) {
    reclaimed.delete(id);
    const call = calls.get(id);
    if (call?.state === 'running') call.run.attempt = attempt;
    if (call?.state !== 'answered') return;
    const answer = { ...call.entry.answer, attempt };
    void keepAndSend({ ...call.entry, attempt, answer });
  }

  function finish(request: Request, answer: CallAnswer) {
    leave(request.id);
    if (discarding) return;
    const { id, name } = request;
    const tool = findTool(name);
    const repeatable = tool !== undefined && isRepeatable(tool);
    const attempt = answer.attempt ?? request.attempt;
    void keepAndSend({ id, attempt, tool: name, repeatable, answer });
  }

  /** On disk before it is sent. When it cannot be written, it is still sent while this lives. */
  async function keepAndSend(entry: Answered) {
    const call = answered(entry, 'done');
    calls.delete(entry.id);
    calls.set(entry.id, call);
    unwritten.add(entry);
    await writing(journal.put(entry), entry.id);
    unwritten.delete(entry);
    // Meanwhile it may have been dropped, or asked for again under a newer attempt.
    if (calls.get(entry.id) === call && !discarding) outbox.send(entry.id);
  }

  /** An answer that the server cannot read would be sent for ever; a plain failure it can (CL32). */
  function misunderstood(id: string | undefined, message: string) {
    const call = id === undefined ? undefined : calls.get(id);
    if (call?.state !== 'answered') return;
    if (call.entry.answer.type === 'tool_error') return forget(call.entry.id);
    const failure = new ToolFailure('internal', `The server could not read the result: ${message}`);
    void keepAndSend({ ...call.entry, answer: encodeFailure(call.entry, failure) });
  }

  function cancel(id: string, reason: string) {
    const call = calls.get(id);
    if (call?.state === 'running') call.run.abort(new ToolFailure('cancelled', reason));
    if (call?.state === 'claimed') calls.set(id, { ...call, state: 'cancelled', reason });
    if (call?.state === 'waiting') drop(id);
  }

  function forget(id: string, wasAwaited = false) {
    reclaimed.delete(id);
    const call = calls.get(id);
    if (call?.state === 'answered') {
      calls.delete(id);
      rememberAsOver(id, call.entry.attempt);
    }
    void writing(journal.delete(id), id);
    outbox.settled(id, wasAwaited);
  }

  function settled(id: string, wasAwaited: boolean) {
    if (calls.get(id)?.state === 'answered') forget(id, wasAwaited);
  }

  function rememberAsOver(id: string, attempt: number) {
    over.set(id, attempt);
    const [oldest] = over.keys();
    if (over.size > CALLS_REMEMBERED_AS_OVER && oldest !== undefined) over.delete(oldest);
  }

  function drop(id: string) {
    calls.delete(id);
    leave(id);
  }

  function leave(id: string) {
    for (const next of turns.leave(id)) {
      const call = calls.get(next);
      if (call?.state === 'waiting') claim(call.request);
    }
  }

  function writing(write: Promise<void>, id: string): Promise<void> {
    return write.catch((error) => onProblem(`${id}: the journal failed: ${errorMessage(error)}`));
  }

  return {
    known: () => tellable([...calls].flatMap(([id, call]) => toKnown(id, call))),
    receive(message) {
      switch (message.type) {
        case 'tool_call_request':
          return offer(message);
        case 'tool_call_granted':
          return grant(message);
        case 'tool_call_refused': {
          if (reclaimed.get(message.id) === message.attempt) reclaimed.delete(message.id);
          const call = calls.get(message.id);
          const mine = call?.state === 'claimed' || call?.state === 'cancelled';
          if (mine && call.request.attempt === message.attempt) drop(message.id);
          return;
        }
        case 'tool_call_cancel':
          return cancel(message.id, message.reason);
        case 'error':
          return misunderstood(message.id, message.message);
        case 'result_acknowledged':
          return settled(message.id, message.disposition === 'accepted');
        case 'result_rejected':
          return settled(message.id, false);
      }
    },
    resume(welcome) {
      for (const id of welcome.forget) {
        cancel(id, 'the server has ended this call');
        if (calls.get(id)?.state === 'answered') forget(id);
      }
      for (const id of welcome.cancel) cancel(id, 'the server has ended this call');
      outbox.resend([...calls].flatMap(([id, { state }]) => (state === 'answered' ? [id] : [])));
      for (const call of calls.values()) if (call.state === 'running') call.run.retell();
    },
    disconnected() {
      reclaimed.clear();
      outbox.stop();
      const open = [...calls].filter(
        ([, { state }]) => state !== 'running' && state !== 'answered',
      );
      for (const [id] of open) calls.delete(id);
      for (const [id] of open) turns.leave(id);
    },
    async close({ reason, discard }) {
      discarding ||= discard;
      outbox.stop();
      const runs = [...calls.values()].flatMap((call) =>
        call.state === 'running' ? [call.run] : [],
      );
      for (const run of runs) run.abort(new ToolFailure('cancelled', reason));
      await Promise.all(runs.map(({ ended }) => ended));
    },
  };
}

const answered = (entry: Answered, phase: 'done' | 'started'): Call => ({
  state: 'answered',
  phase,
  entry,
});

/** The program ended between the start and the answer: nobody can know what the tool did. */
function diedInTheMiddle(entry: JournalEntry): Answered {
  const failure = new ToolFailure(
    'outcome_unknown',
    `${entry.tool} had started when this client ended. It may or may not have run; check before repeating it.`,
  );
  return { ...entry, answer: encodeFailure(entry, failure) };
}

function toKnown(id: string, call: Call): Known[] {
  if (call.state === 'running') return [{ id, attempt: call.run.attempt, phase: 'running' }];
  if (call.state === 'answered') return [{ id, attempt: call.entry.attempt, phase: call.phase }];
  return [];
}

/** Where there is no room for all, what runs and the newest answers. */
function tellable(all: readonly Known[]): { calls: Known[]; isAll: boolean } {
  if (all.length <= LIMITS.knownCalls) return { calls: [...all], isAll: true };
  const running = all.filter(({ phase }) => phase === 'running');
  const answers = all.filter(({ phase }) => phase !== 'running');
  const calls = [...running, ...answers.reverse()].slice(0, LIMITS.knownCalls);
  return { calls, isAll: false };
}
