import { Semaphores } from '../limits/semaphore.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { ServerMessage, ServerMessageOf } from '../protocol/server-messages.ts';
import { isRepeatable, ToolFailure } from './client-tool.ts';
import { encodeFailure } from './encode-answer.ts';
import type { CallAnswer, JournalEntry } from './journal.ts';
import { type KnownCall, PendingAnswers } from './pending-answers.ts';
import { type InstanceParts, type RunningCall, startCall } from './running-call.ts';

type Request = ServerMessageOf<'tool_call_request'>;
type Welcome = Pick<ServerMessageOf<'welcome'>, 'forget' | 'cancel'>;

/** A call without an answer, by how far it has come on this side. */
type ActiveCall =
  | { readonly state: 'waiting'; readonly request: Request }
  | { readonly state: 'claimed'; readonly request: Request; readonly claimedAt: number }
  | { readonly state: 'cancelled'; readonly request: Request; readonly reason: string }
  | { readonly state: 'running'; readonly request: Request; readonly run: RunningCall };

/** How long a close waits for tools that do not heed their signal. */
const CLOSE_WAIT_MS = 2_000;

/**
 * The calls of one client instance: claims them, runs each at most once, keeps
 * the answers until they are acknowledged. Sockets and reconnecting are elsewhere.
 */
export class CallRunner {
  readonly #parts: InstanceParts;
  readonly #answers: PendingAnswers;
  readonly #calls = new Map<string, ActiveCall>();
  /** Attempts claimed for calls that already ran or run here: to answer, not to run again. */
  readonly #reclaims = new Map<string, number>();
  /** So many calls of a tool run at a time as it declares (CL9); the others wait. */
  readonly #tools = new Semaphores();
  /** These end a call's place among those of its tool, whether it has begun or waits. */
  readonly #places = new Map<string, () => void>();

  /** The journal held what is `remembered` when it was opened. */
  constructor(parts: InstanceParts, remembered: readonly JournalEntry[]) {
    this.#parts = parts;
    this.#answers = new PendingAnswers(parts, remembered);
  }

  get instanceId(): string {
    return this.#parts.instanceId;
  }

  /**
   * For `hello`: the calls of this instance, as many as one may list. By the epoch a call that is not
   * listed counts as never started: where the list is cut that would be wrong, so it is left out (CL34).
   */
  known() {
    const running = [...this.#calls].flatMap(([id, call]) =>
      call.state === 'running' ? [{ id, attempt: call.run.attempt, phase: call.state }] : [],
    );
    const { calls, isAll } = fitIntoHello(running, this.#answers.known());
    return { calls, epoch: isAll ? this.#parts.journal.epoch : undefined };
  }

  /** Handles what the server sends about calls; other messages change nothing. */
  receive(message: ServerMessage): void {
    switch (message.type) {
      case 'tool_call_request':
        return this.#offer(message);
      case 'tool_call_granted':
        return this.#grant(message);
      case 'tool_call_refused':
        return this.#refuse(message);
      case 'tool_call_cancel':
        return this.#cancel(message.id, message.reason);
      case 'error':
        return this.#handleBadMessage(message.id, message.message);
      case 'result_acknowledged':
        return this.#settle(message.id, message.disposition === 'accepted');
      case 'result_rejected':
        // guard: rejected-answer-forgotten
        return this.#settle(message.id, false);
    }
  }

  /** After `welcome`: drops, cancels, and sends again what was not acknowledged. */
  resume({ forget, cancel }: Welcome): void {
    for (const id of [...forget, ...cancel]) this.#cancel(id, 'the server has ended this call');
    for (const id of forget) this.#settle(id, false);
    // guard: unacknowledged-sent-again
    this.#answers.sendAllAgain();
    for (const call of this.#calls.values()) {
      if (call.state === 'running') call.run.resendStatus();
    }
  }

  /** An offer that was not granted ends with the connection. */
  disconnected(): void {
    this.#reclaims.clear();
    this.#answers.stop();
    const ended = [...this.#calls].filter(([, { state }]) => state !== 'running');
    for (const [id] of ended) this.#calls.delete(id);
    for (const [id] of ended) this.#leave(id);
  }

  /** Aborts what runs; resolves when it has ended, or had time to. With `discard`, nothing is kept of it. */
  async close({ reason, discard }: { reason: string; discard: boolean }): Promise<void> {
    const { journal, environment } = this.#parts;
    if (discard) this.#answers.discard();
    else this.#answers.stop();
    const runs = [...this.#calls.values()].flatMap((call) =>
      call.state === 'running' ? [call.run] : [],
    );
    for (const run of runs) run.abort(new ToolFailure('cancelled', reason));
    // The journal belongs to another page now: nothing may be written into it (CL15).
    if (discard) journal.close();
    const tooLate = new Promise<void>((resolve) => environment.schedule(CLOSE_WAIT_MS, resolve));
    await Promise.race([Promise.all(runs.map(({ ended }) => ended)), tooLate]);
    if (!discard) journal.close();
  }

  #offer(request: Request): void {
    const { id, name, attempt } = request;
    const call = this.#calls.get(id);
    const ranAs = call?.state === 'running' ? call.run.attempt : this.#answers.get(id)?.attempt;
    // guard: never-run-twice
    if (ranAs !== undefined) return this.#offerAgain(request, ranAs);
    const isOpen = call?.state === 'claimed' || call?.state === 'waiting';
    if (isOpen && call.request.attempt >= attempt) return;
    if (this.#answers.isCompleted(id, attempt)) return;
    // It has its place by an earlier attempt.
    if (call && call.state !== 'waiting') return this.#claim(request);
    this.#calls.set(id, { state: 'waiting', request });
    if (this.#places.has(id)) return;
    const limit = this.#parts.findTool(name)?.concurrency ?? 1;
    const leave = this.#tools.enter(name, limit, () => {
      const begun = this.#calls.get(id);
      if (begun?.state === 'waiting') this.#claim(begun.request);
    });
    this.#places.set(id, leave);
  }

  /** CL6: never run twice. A new attempt is claimed only to answer it from here. */
  #offerAgain({ id, attempt }: Request, ranAs: number): void {
    if (attempt > ranAs) {
      this.#reclaims.set(id, attempt);
      this.#parts.send({ type: 'tool_call_claim', id, attempt });
    } else this.#answers.sendAgain(id);
  }

  #claim(request: Request): void {
    const { id, attempt } = request;
    const claimedAt = this.#parts.environment.now();
    this.#calls.set(id, { state: 'claimed', request, claimedAt });
    // guard: run-after-grant
    this.#parts.send({ type: 'tool_call_claim', id, attempt });
  }

  #grant({ id, attempt, remaining_ms }: ServerMessageOf<'tool_call_granted'>): void {
    if (this.#reclaims.get(id) === attempt) return this.#grantAgain(id, attempt);
    const call = this.#calls.get(id);
    if (call?.request.attempt !== attempt) return;
    if (call.state === 'cancelled') {
      const failure = new ToolFailure('cancelled', `Cancelled before it started: ${call.reason}`);
      this.#finish(call.request, encodeFailure(call.request, failure));
    } else if (call.state === 'claimed') {
      // Counted from the claim: a program frozen since then must not run late (CL8).
      // guard: time-counts-from-claim
      const remainingMs = remaining_ms - (this.#parts.environment.now() - call.claimedAt);
      this.#start(call.request, remainingMs);
    }
  }

  /** The run, or its answer, continues under the newer attempt. */
  #grantAgain(id: string, attempt: number): void {
    this.#reclaims.delete(id);
    const call = this.#calls.get(id);
    if (call?.state === 'running') call.run.attempt = attempt;
    const entry = this.#answers.get(id);
    if (!entry) return;
    void this.#answers.keep({ ...entry, attempt, answer: { ...entry.answer, attempt } });
  }

  #start(request: Request, remainingMs: number): void {
    const tool = this.#parts.findTool(request.name);
    const run = startCall({ ...this.#parts, request, tool, remainingMs });
    this.#calls.set(request.id, { state: 'running', request, run });
    void run.ended.then((answer) => this.#finish(request, { ...answer, attempt: run.attempt }));
  }

  #finish({ id, name, attempt }: Request, answer: CallAnswer): void {
    this.#drop(id);
    const tool = this.#parts.findTool(name);
    const repeatable = tool !== undefined && isRepeatable(tool);
    const answered = { id, attempt: answer.attempt ?? attempt, tool: name, repeatable, answer };
    void this.#answers.keep(answered);
  }

  #refuse({ id, attempt }: ServerMessageOf<'tool_call_refused'>): void {
    if (this.#reclaims.get(id) === attempt) this.#reclaims.delete(id);
    const call = this.#calls.get(id);
    const isClaimed = call?.state === 'claimed' || call?.state === 'cancelled';
    if (isClaimed && call.request.attempt === attempt) this.#drop(id);
  }

  #cancel(id: string, reason: string): void {
    const call = this.#calls.get(id);
    // guard: cancel-stops-the-run
    if (call?.state === 'running') call.run.abort(new ToolFailure('cancelled', reason));
    if (call?.state === 'claimed') this.#calls.set(id, { ...call, state: 'cancelled', reason });
    if (call?.state === 'waiting') this.#drop(id);
  }

  /** An answer that the server cannot read would be sent for ever; it can read a plain failure (CL32). */
  #handleBadMessage(id: string | undefined, message: string): void {
    const entry = id === undefined ? undefined : this.#answers.get(id);
    if (!entry) return;
    if (entry.answer.type === 'tool_error') return this.#settle(entry.id, false);
    const failure = new ToolFailure('internal', `The server could not read the result: ${message}`);
    void this.#answers.keep({ ...entry, answer: encodeFailure(entry, failure) });
  }

  #settle(id: string, wasAwaited: boolean): void {
    if (!this.#answers.get(id)) return;
    this.#reclaims.delete(id);
    this.#answers.forget(id, wasAwaited);
  }

  #drop(id: string): void {
    this.#calls.delete(id);
    this.#leave(id);
  }

  #leave(id: string): void {
    const leave = this.#places.get(id);
    this.#places.delete(id);
    leave?.();
  }
}

/** Where there is no room for all: what runs, and the newest answers (CL34). */
function fitIntoHello(
  running: readonly KnownCall[],
  answers: readonly KnownCall[],
): { calls: KnownCall[]; isAll: boolean } {
  if (running.length + answers.length <= LIMITS.knownCalls) {
    return { calls: [...running, ...answers], isAll: true };
  }
  const calls = [...running, ...answers.toReversed()].slice(0, LIMITS.knownCalls);
  return { calls, isAll: false };
}
