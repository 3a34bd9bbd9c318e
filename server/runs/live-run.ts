import { parseAskingClient } from '#lib/protocol/asking-client';
import type { Attachment } from '#lib/protocol/attachment';
import type { ModelUsage } from '#lib/protocol/model-turn';
import type { Message, MessageAuthor, MessagePart, RunRecord, RunSummary } from '#lib/protocol/run';
import { mapTexts } from '#lib/text/redact';
import { createSecrets, type Secrets } from '#lib/text/secrets';
import { given } from '#lib/util/given';
import type { Clock } from '../base/clock.ts';
import type { EventBus } from '../events/room.ts';
import type { AnnounceRun } from '../notices/room.ts';
import type { Change, MessagesPage, Store, StoredTokens } from '../store/room.ts';
import { type MessageReplay, replaysFor } from './agent/replay.ts';
import { isUnread, messagePage, newestFrom, WINDOW_BYTES } from './message-page.ts';
import { MessageWriter } from './message-writer.ts';
import { type ModelRequest, ModelTurnLog, type RequestLog } from './model-turn-log.ts';
import { createRunUsage, type RunUsageCount } from './run-usage.ts';
import type { PriceTable } from './runs-config.ts';

export interface LiveRunDeps {
  readonly store: Store;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly newId: (prefix: 'run' | 'msg') => string;
  /** The prices of models; without them runs show tokens alone. */
  readonly prices?: PriceTable | undefined;
  /** Secrets are in no message and no title (RU50); without this only tokens are known. */
  readonly secrets?: Secrets;
  /** Tells others outside, in the write of a new status. */
  readonly announce?: AnnounceRun | undefined;
  /** The run that a sub-agent's works for, while its turn runs. */
  above(runId: string): Pick<LiveRun, 'usedBelow'> | undefined;
}

/** A person said it, at this client when that is known. */
export interface UserInput {
  readonly input: string;
  /** `askingText` made it. */
  readonly clientId: string | undefined;
  /** The message in whose place it stands. */
  readonly replaces?: string | undefined;
  /** Another front end calls it so. */
  readonly givenId?: string | undefined;
  /** Beside the text, as they are kept. */
  readonly files?: readonly Attachment[] | undefined;
  /** Another than the owner of the run. */
  readonly author?: MessageAuthor | undefined;
}

/** A run with its newest messages. */
export interface StoredRun extends Pick<MessagesPage, 'messages' | 'to' | 'askedBefore'> {
  readonly tokens?: readonly StoredTokens[];
  readonly tokensBelow?: readonly StoredTokens[];
  readonly summary: RunSummary;
}

/**
 * A run in memory, its only writer. What it says of itself is on disk and
 * published: a snapshot never runs ahead of the events after it.
 * Only text that a model is still writing is shown before (rule RU8).
 */
export class LiveRun {
  readonly #deps: LiveRunDeps;
  readonly #secrets: Secrets;
  readonly #log: ModelTurnLog;
  /** The newest ones, within `WINDOW_BYTES` but for those of the last turn (RU35). */
  readonly #messages: Message[];
  /** Position of the next one. */
  #to: number;
  /** Messages of people before those. */
  #askedBefore: number;
  readonly #usage: RunUsageCount;
  readonly runId: string;
  #summary: RunSummary;
  /** It has what is on its way to the disk, too. */
  #decided: RunSummary;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: LiveRunDeps, stored: StoredRun) {
    const { summary, messages, to, askedBefore, tokens = [], tokensBelow } = stored;
    this.#deps = deps;
    this.#secrets = deps.secrets ?? createSecrets();
    this.#summary = summary;
    this.#decided = summary;
    this.#messages = [...messages];
    this.#to = to;
    this.#askedBefore = askedBefore;
    this.#usage = createRunUsage(tokens, deps.prices, tokensBelow);
    this.runId = summary.run_id;
    this.#log = new ModelTurnLog(deps, { runId: this.runId, isNew: to === 0 });
  }

  /** So many messages before these are in the store alone. */
  get older(): number {
    return this.#to - this.#messages.length;
  }

  summary(): RunSummary {
    return { ...this.#summary, ...given({ usage: this.#usage.total() }) };
  }

  record(): RunRecord {
    return { ...this.summary(), ...messagePage(this.#messages, this.#to) };
  }

  /** A message that a person sends during a step stands after the one that the model is writing. */
  messages(): readonly Message[] {
    return this.#messages;
  }

  /** Messages on disk are sent back to this model with these, by message. */
  async replays(model: string): Promise<ReadonlyMap<string, MessageReplay>> {
    return replaysFor(model, await this.#deps.store.getReplays(this.runId));
  }

  publish(): void {
    this.#deps.bus.publish({ type: 'run', run: this.summary() });
  }

  /** Only in memory, for what can be written no more. */
  show(patch: Partial<RunSummary>): void {
    this.#decided = this.#hidden({ ...this.#decided, ...patch });
    this.#summary = this.#decided;
  }

  /** A sub-agent at work below it has used so much more. */
  usedBelow(model: string, usage: ModelUsage): void {
    this.#usage.addBelow(model, usage);
    this.publish();
    this.#above()?.usedBelow(model, usage);
  }

  #above() {
    const { parent } = this.#summary;
    return parent && this.#deps.above(parent.run_id);
  }

  /** Tells whether the end of the request of this number can still come. */
  mayEnd(number: number): boolean {
    return this.#log.mayEnd(number);
  }

  /**
   * Saves the end of a turn that began when `lastSeen` was the last message. False, and nothing is
   * saved, where a person's message came that it has not read.
   */
  endTurn(patch: Partial<RunSummary>, lastSeen: Message | undefined): Promise<boolean> {
    return this.#inOrder(async () => {
      const isNew = this.#messages.at(-1) !== lastSeen;
      if (isNew && isUnread(this.#messages)) return false;
      await this.save(patch);
      return true;
    });
  }

  /**
   * Writes the person's message and the run's new state as one, then publishes both. False, and
   * nothing is written, where it is here already by its `givenId`.
   */
  addUserMessage(
    { input, clientId, replaces, givenId: given_id, files = [], author }: UserInput,
    patch: Partial<RunSummary>,
  ): Promise<boolean> {
    const asking = parseAskingClient(clientId);
    return this.#inOrder(async () => {
      if (given_id !== undefined && this.#messages.some((one) => one.given_id === given_id)) {
        return false;
      }
      const parts: MessagePart[] = [
        { type: 'text', text: input },
        ...files.map((file) => ({ type: 'file' as const, file })),
      ];
      const message: Message = {
        ...this.#newMessage('user', mapTexts(parts, this.#secrets.hide)),
        ...given({ client_id: asking?.clientId, instance_id: asking?.instanceId }),
        ...given({ replaces, given_id, author }),
      };
      await this.save(patch, [{ type: 'put_message', message, position: this.#to }]);
      this.#add(message);
      this.publish();
      this.publishMessage(message);
      return true;
    });
  }

  /** Each step of the model is a message. Resolves once what was begun before has its place. */
  beginMessage(): Promise<MessageWriter> {
    return this.#inOrder(async () => {
      const { clock, bus } = this.#deps;
      const message = this.#newMessage('assistant', []);
      const position = this.#to;
      this.#add(message);
      this.publishMessage(message);
      return new MessageWriter(this, message, { clock, bus, secrets: this.#secrets, position });
    });
  }

  /** Shows watchers of later this form of a message of the turn that runs. */
  keep(message: Message): void {
    this.#messages[this.#placeOf(message.message_id)] = message;
  }

  putMessage(message: Message, position: number, replay: MessageReplay | undefined): Promise<void> {
    return this.#put({ type: 'put_message', message, position, ...given({ replay }) });
  }

  /** The last one also drops those that have no room any more; a turn keeps all of its own. */
  #add(message: Message): void {
    const kept = this.#messages;
    kept.push(message);
    this.#to += 1;
    const ofTurn = kept.findLastIndex(({ role }) => role === 'user');
    if (newestFrom(kept, 2 * WINDOW_BYTES) === 0) return;
    const dropped = kept.splice(0, Math.min(newestFrom(kept, WINDOW_BYTES), Math.max(ofTurn, 0)));
    this.#askedBefore += personsMessages(dropped);
  }

  /** It is of the turn that runs, and so it is there. */
  #placeOf(messageId: string): number {
    return this.#messages.findLastIndex(({ message_id }) => message_id === messageId);
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

  /** Resolves once the change is on disk, with `more` as one; `publish` sends it to watchers. */
  async save(patch: Partial<RunSummary>, more: readonly Change[] = []): Promise<void> {
    const run = this.#hidden({ ...this.#decided, ...patch, updated_at: this.#nowSeconds() });
    const announced = this.#deps.announce?.(run, this.#decided);
    this.#decided = run;
    await this.#put({ type: 'put_run', run }, ...more, ...(announced?.changes ?? []));
    announced?.written();
    this.#summary = run;
  }

  /** Writes also the end of the request that is not written yet; its tokens count once it is on disk. */
  async #put(...changes: readonly Change[]): Promise<void> {
    const ended = this.#log.takeEnded();
    await this.#deps.store.write([...changes, ...ended]);
    for (const { turn } of ended) {
      if (turn.finish_reason === null) continue;
      this.#usage.add(turn.model, turn.usage);
      this.#above()?.usedBelow(turn.model, turn.usage);
    }
  }

  async beginRequest(message_id: string, request: ModelRequest): Promise<RequestLog> {
    const log = this.#log;
    const before = this.#messages.slice(0, this.#placeOf(message_id));
    const of = { message_id, turn: this.#askedBefore + personsMessages(before) };
    const turn = await log.begin(request, of);
    const put: Change = { type: 'put_model_turn', turn };
    if (request.beginsStep) {
      await this.save({ step: request.step }, [put]);
      this.publish();
    } else await this.#put(put);
    return {
      answered: () => log.answered(),
      end: (outcome) => log.end(outcome),
      write: () => this.#put(),
    };
  }

  #hidden(summary: RunSummary): RunSummary {
    return mapTexts(summary, this.#secrets.hide);
  }

  publishMessage(message: Message): void {
    this.#deps.bus.publish({ type: 'message', run_id: this.runId, message });
  }

  #nowSeconds(): number {
    return this.#deps.clock.now() / 1000;
  }
}

const personsMessages = (messages: readonly Message[]): number =>
  messages.filter(({ role }) => role === 'user').length;
