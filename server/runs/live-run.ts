import type { Message, MessagePart, RunRecord, RunSummary } from '#lib/protocol/run';
import type { Clock } from '../clock.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Change, Store } from '../store/store.ts';
import type { MessageWriter, ModelRequest, RequestLog, Transcript } from './agent/agent.ts';
import { isUnread } from './agent/turn-messages.ts';
import { createMessageWriter } from './message-writer.ts';
import { createModelTurnLog, type ModelTurnLog } from './model-turn-log.ts';

export interface LiveRunDeps {
  readonly store: Store;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly newId: (prefix: 'run' | 'msg') => string;
}

/**
 * A run in memory, its only writer. What it says of itself is on disk and
 * published: a snapshot never runs ahead of the events after it.
 * Only text that a model is still writing is shown before (rule RU8).
 */
export interface LiveRun extends Transcript {
  readonly runId: string;
  summary(): RunSummary;
  record(): RunRecord;
  /** Resolves once the change is on disk; `publish` sends it to watchers. */
  save(patch: Partial<RunSummary>): Promise<void>;
  /**
   * Saves the end of a turn that began when `lastSeen` was the last message. False, and nothing is
   * saved, where a person's message came that it has not read.
   */
  endTurn(patch: Partial<RunSummary>, lastSeen: Message | undefined): Promise<boolean>;
  publish(): void;
  /** Only in memory, for what can be written no more. */
  show(patch: Partial<RunSummary>): void;
  /** Whether the end of the request of this number can still come. */
  mayEnd(number: number): boolean;
  /** Writes the person's message and the run's new state as one, then publishes both. */
  addUserMessage(input: UserInput, patch: Partial<RunSummary>): Promise<void>;
}

/** What a person said, and at which client, when that is known. */
export interface UserInput {
  readonly input: string;
  readonly clientId: string | undefined;
}

interface StoredRun {
  readonly summary: RunSummary;
  readonly messages: readonly Message[];
}

export const createLiveRun = (deps: LiveRunDeps, stored: StoredRun): LiveRun =>
  new RunInMemory(deps, stored);

class RunInMemory implements LiveRun {
  readonly #deps: LiveRunDeps;
  readonly #log: ModelTurnLog;
  readonly #messages: Message[];
  readonly runId: string;
  #summary: RunSummary;
  /** With what is on its way to the disk. */
  #decided: RunSummary;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: LiveRunDeps, { summary, messages }: StoredRun) {
    this.#deps = deps;
    this.#summary = summary;
    this.#decided = summary;
    this.#messages = [...messages];
    this.runId = summary.run_id;
    this.#log = createModelTurnLog(deps, { runId: this.runId, isNew: messages.length === 0 });
  }

  summary(): RunSummary {
    return this.#summary;
  }

  record(): RunRecord {
    return { ...this.#summary, messages: [...this.#messages] };
  }

  messages(): readonly Message[] {
    return this.#messages;
  }

  publish(): void {
    this.#deps.bus.publish({ type: 'run', run: this.#summary });
  }

  save(patch: Partial<RunSummary>): Promise<void> {
    return this.#write(patch);
  }

  show(patch: Partial<RunSummary>): void {
    this.#decided = { ...this.#decided, ...patch };
    this.#summary = this.#decided;
  }

  mayEnd(number: number): boolean {
    return this.#log.mayEnd(number);
  }

  endTurn(patch: Partial<RunSummary>, lastSeen: Message | undefined): Promise<boolean> {
    return this.#inOrder(async () => {
      const isNew = this.#messages.at(-1) !== lastSeen;
      if (isNew && isUnread(this.#messages)) return false;
      await this.#write(patch);
      return true;
    });
  }

  addUserMessage({ input, clientId }: UserInput, patch: Partial<RunSummary>): Promise<void> {
    return this.#inOrder(async () => {
      const message: Message = {
        ...this.#newMessage('user', [{ type: 'text', text: input }]),
        ...(clientId === undefined ? {} : { client_id: clientId }),
      };
      const position = this.#messages.length;
      await this.#write(patch, [{ type: 'put_message', message, position }]);
      this.#messages.push(message);
      this.publish();
      this.#publishMessage(message);
    });
  }

  beginMessage(): Promise<MessageWriter> {
    return this.#inOrder(async () => this.#beginMessage());
  }

  #beginMessage(): MessageWriter {
    const { clock, bus, store } = this.#deps;
    const message = this.#newMessage('assistant', []);
    const position = this.#messages.length;
    this.#messages.push(message);
    this.#publishMessage(message);
    return createMessageWriter({
      message,
      clock,
      publish: (event) => void bus.publish(event),
      onPublished: (published) => {
        this.#messages[position] = published;
      },
      beginRequest: (request) => this.#beginRequest(message.message_id, position, request),
      persist: (done) =>
        store.write([{ type: 'put_message', message: done, position }, ...this.#log.takeEnded()]),
    });
  }

  /** A message has its place when it is begun, that of a person when it is on disk: one after the other. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  #newMessage(role: Message['role'], parts: MessagePart[]): Message {
    return {
      message_id: this.#deps.newId('msg'),
      run_id: this.runId,
      role,
      parts,
      status: role === 'user' ? 'done' : 'streaming',
      created_at: this.#nowSeconds(),
    };
  }

  async #write(patch: Partial<RunSummary>, more: readonly Change[] = []): Promise<void> {
    const run = { ...this.#decided, ...patch, updated_at: this.#nowSeconds() };
    this.#decided = run;
    await this.#deps.store.write([{ type: 'put_run', run }, ...this.#log.takeEnded(), ...more]);
    this.#summary = run;
  }

  async #beginRequest(
    message_id: string,
    position: number,
    request: ModelRequest,
  ): Promise<RequestLog> {
    const log = this.#log;
    const { store } = this.#deps;
    const of = { message_id, turn: personsMessages(this.#messages.slice(0, position)) };
    const turn = await log.begin(request, of);
    const put: Change = { type: 'put_model_turn', turn };
    if (request.beginsStep) {
      await this.#write({ step: request.step }, [put]);
      this.publish();
    } else await store.write([...log.takeEnded(), put]);
    return {
      answered: () => log.answered(),
      end: (outcome) => log.end(outcome),
      write: () => store.write(log.takeEnded()),
    };
  }

  #publishMessage(message: Message): void {
    this.#deps.bus.publish({ type: 'message', run_id: this.runId, message });
  }

  #nowSeconds(): number {
    return this.#deps.clock.now() / 1000;
  }
}

const personsMessages = (messages: readonly Message[]): number =>
  messages.filter(({ role }) => role === 'user').length;
