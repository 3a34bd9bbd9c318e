import { keepNewest } from '../limits/keep-newest.ts';
import { TokenBucket } from '../limits/token-bucket.ts';
import type { ClientMessage, ClientMessageOf } from '../protocol/client-messages.ts';
import { errorMessage } from '../util/error-message.ts';
import { ToolFailure } from './client-tool.ts';
import { encodeFailure } from './encode-answer.ts';
import type { CallAnswer, JournalEntry } from './journal.ts';
import type { InstanceParts } from './running-call.ts';
import type { ClientEnvironment } from './transports.ts';

/** Answers that may be in flight at once, while others wait to be sent again. */
export const WINDOW = 64;
/** Half of what the server takes of one connection: the other half is for everything else. */
const RATE = { burst: 1_000, perSecond: 500 };
/** How long to wait for a token when there was none. */
const PACE_MS = 100;
/** An answer without a reply of the server keeps its place in the window this long. */
const REPLY_MS = 10_000;

interface OutboxOptions {
  readonly environment: Pick<ClientEnvironment, 'now' | 'schedule'>;
  /** Undefined when there is nothing to send any more, or not yet. */
  answerOf(id: string): CallAnswer | undefined;
  send(message: ClientMessage): boolean;
}

/**
 * Sends answers. A new one goes at once; those of earlier connections go again
 * in their order, as the acknowledgements come: after a long absence they may be
 * thousands, and all at once would be a flood that the server ends (CL33).
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waiting = new Set<string>();
  readonly #inFlight = new Set<string>();
  #tokens;
  #cancelTimer = () => {};

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#tokens = new TokenBucket(RATE, options.environment.now);
  }

  /** A new answer. */
  send(id: string): void {
    this.#waiting.delete(id);
    const answer = this.#options.answerOf(id);
    if (!answer) return;
    this.#inFlight.add(id);
    this.#tokens.spend();
    this.#options.send(answer);
  }

  /** After a new connection. */
  resend(ids: readonly string[]): void {
    this.stop();
    this.#tokens = new TokenBucket(RATE, this.#options.environment.now);
    for (const id of ids) this.#waiting.add(id);
    this.#sendWaiting();
  }

  /** The server has replied to the answer; `wasAwaited`: the call was still open. */
  settled(id: string, wasAwaited: boolean): void {
    this.#inFlight.delete(id);
    this.#waiting.delete(id);
    // The server does not count the answer to an open call.
    if (wasAwaited) this.#tokens.giveBack();
    if (this.#waiting.size > 0) this.#sendWaiting();
  }

  /** The connection is gone. */
  stop(): void {
    this.#cancelTimer();
    this.#waiting.clear();
    this.#inFlight.clear();
  }

  #sendWaiting(): void {
    this.#cancelTimer();
    for (const id of this.#waiting) {
      if (this.#isFull || this.#tokens.isEmpty) break;
      this.send(id);
    }
    if (this.#waiting.size === 0) return;
    const wasFull = this.#isFull;
    const waitMs = wasFull ? REPLY_MS : PACE_MS;
    this.#cancelTimer = this.#options.environment.schedule(waitMs, () => {
      if (wasFull) this.#inFlight.clear();
      this.#sendWaiting();
    });
  }

  get #isFull(): boolean {
    return this.#inFlight.size >= WINDOW;
  }
}

/** A call as a `hello` lists it. */
export type KnownCall = NonNullable<ClientMessageOf<'hello'>['known']>[number];

type AnsweredEntry = JournalEntry & { readonly answer: CallAnswer };

interface Pending {
  readonly entry: AnsweredEntry;
  /** `started`: the program ended before there was an answer. */
  readonly phase: 'done' | 'started';
  isWritten: boolean;
}

/** A message of the server may come twice within a short time, or not at all. */
const COMPLETED_KEPT = 1_000;

/**
 * The answers of one client instance that the server has not acknowledged: in
 * the journal before they are sent, and there until they are settled (CL7).
 */
export class PendingAnswers {
  readonly #options: InstanceParts;
  readonly #outbox: Outbox;
  /** In the order of the answers, in which they are sent again. */
  readonly #answers = new Map<string, Pending>();
  /** The newest attempts of settled calls. */
  readonly #completedAttempts = new Map<string, number>();
  #isDiscarding = false;

  /** `remembered` is what the journal held when it was opened. */
  constructor(options: InstanceParts, remembered: readonly JournalEntry[]) {
    this.#options = options;
    this.#outbox = new Outbox({
      environment: options.environment,
      send: options.send,
      answerOf: (id) => this.#writtenAnswer(id),
    });
    for (const entry of remembered) this.#restore(entry);
  }

  get(id: string): AnsweredEntry | undefined {
    return this.#answers.get(id)?.entry;
  }

  /** Tells that this attempt of a call, or a newer one, was answered and settled. */
  isCompleted(id: string, attempt: number): boolean {
    return (this.#completedAttempts.get(id) ?? 0) >= attempt;
  }

  known(): KnownCall[] {
    return [...this.#answers].map(([id, { entry, phase }]) => ({
      id,
      attempt: entry.attempt,
      phase,
    }));
  }

  /**
   * On disk before it is sent, in the place of an earlier answer to the call. When
   * it cannot be written, it is still sent while this program lives.
   */
  async keep(entry: AnsweredEntry): Promise<void> {
    if (this.#isDiscarding) return;
    const { id } = entry;
    const pending: Pending = { entry, phase: 'done', isWritten: false };
    this.#answers.delete(id);
    this.#answers.set(id, pending);
    // guard: answer-in-journal-before-sent
    await this.#reportFailure(this.#options.journal.put(entry), id);
    pending.isWritten = true;
    // guard: answer-kept-until-acknowledged
    if (!this.#isDiscarding) this.#outbox.send(id);
  }

  sendAgain(id: string): void {
    this.#outbox.send(id);
  }

  /** After a new connection. */
  sendAllAgain(): void {
    this.#outbox.resend([...this.#answers.keys()]);
  }

  /** `wasAwaited`: the server still waited for this answer. */
  forget(id: string, wasAwaited = false): void {
    const pending = this.#answers.get(id);
    if (pending) {
      this.#answers.delete(id);
      this.#rememberCompleted(id, pending.entry.attempt);
    }
    void this.#reportFailure(this.#options.journal.delete(id), id);
    this.#outbox.settled(id, wasAwaited);
  }

  /** The connection is gone. */
  stop(): void {
    this.#outbox.stop();
  }

  /** The journal is given up: nothing more is written, and nothing more is sent. */
  discard(): void {
    this.#isDiscarding = true;
    this.#outbox.stop();
  }

  #restore(entry: JournalEntry): void {
    const { id, answer } = entry;
    // guard: answers-restored
    if (answer) this.#answers.set(id, restored({ ...entry, answer }, 'done'));
    // guard: interrupted-not-run-again
    else if (!entry.repeatable) this.#answers.set(id, restored(interrupted(entry), 'started'));
    else this.forget(id);
  }

  #writtenAnswer(id: string): CallAnswer | undefined {
    const pending = this.#answers.get(id);
    return pending?.isWritten ? pending.entry.answer : undefined;
  }

  #rememberCompleted(id: string, attempt: number): void {
    this.#completedAttempts.set(id, attempt);
    keepNewest(this.#completedAttempts, COMPLETED_KEPT);
  }

  #reportFailure(write: Promise<void>, id: string): Promise<void> {
    return write.catch((error) =>
      this.#options.onProblem(`${id}: the journal failed: ${errorMessage(error)}`),
    );
  }
}

const restored = (entry: AnsweredEntry, phase: Pending['phase']): Pending => ({
  entry,
  phase,
  isWritten: true,
});

/** The program ended between the start and the answer, so the effect of the tool is unknown. */
function interrupted(entry: JournalEntry): AnsweredEntry {
  const failure = new ToolFailure(
    'outcome_unknown',
    `${entry.tool} had started when this client ended. It may or may not have run; check before repeating it.`,
  );
  return { ...entry, answer: encodeFailure(entry, failure) };
}
