import type { ClientMessage, ClientMessageOf } from '../protocol/client-messages.ts';
import { errorMessage } from '../util/error-message.ts';
import { encodeFailure } from './encode-answer.ts';
import type { ClientEnvironment } from './environment.ts';
import type { CallAnswer, Journal, JournalEntry } from './journal.ts';
import { Outbox } from './outbox.ts';
import { ToolFailure } from './tool-failure.ts';

/** A call as a `hello` lists it. */
export type KnownCall = NonNullable<ClientMessageOf<'hello'>['known']>[number];

export type AnsweredEntry = JournalEntry & { readonly answer: CallAnswer };

interface Pending {
  readonly entry: AnsweredEntry;
  /** `started`: the program ended before there was an answer. */
  readonly phase: 'done' | 'started';
  isWritten: boolean;
}

export interface PendingAnswersOptions {
  readonly journal: Journal;
  readonly environment: Pick<ClientEnvironment, 'now' | 'schedule'>;
  /** False when there is no connection. */
  send(message: ClientMessage): boolean;
  readonly onProblem: (message: string) => void;
}

/** A message of the server may come twice within a short time, or not at all. */
const COMPLETED_KEPT = 1_000;

/**
 * The answers of one client instance that the server has not acknowledged: in
 * the journal before they are sent, and there until they are settled (CL7).
 */
export class PendingAnswers {
  readonly #options: PendingAnswersOptions;
  readonly #outbox: Outbox;
  /** In the order of the answers, in which they are sent again. */
  readonly #answers = new Map<string, Pending>();
  /** The newest attempts of settled calls. */
  readonly #completedAttempts = new Map<string, number>();
  #isDiscarding = false;

  /** `remembered` is what the journal held when it was opened. */
  constructor(options: PendingAnswersOptions, remembered: readonly JournalEntry[]) {
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

  /** Whether this attempt of a call, or a newer one, was answered and settled. */
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
    const [oldest] = this.#completedAttempts.keys();
    if (this.#completedAttempts.size > COMPLETED_KEPT && oldest !== undefined) {
      this.#completedAttempts.delete(oldest);
    }
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
