import type { Message, MessagePart, RunRecord, RunSummary } from '#lib/protocol/run';
import type { Clock } from '../clock.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Change, Store } from '../store/store.ts';
import type { MessageWriter, ModelRequest, RequestLog, Transcript } from './agent/agent.ts';
import { createMessageWriter } from './message-writer.ts';
import { createModelTurnLog } from './model-turn-log.ts';

export interface LiveRunDeps {
  readonly store: Store;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly newId: (prefix: 'run' | 'msg') => string;
}

/**
 * A run in memory, its only writer. What it says of itself is on disk, and what
 * watchers have been told: a snapshot never runs ahead of the events after it.
 * Only text that a model is still writing is shown before (rule RU8).
 */
export interface LiveRun extends Transcript {
  readonly runId: string;
  summary(): RunSummary;
  record(): RunRecord;
  /** Resolves once the change is on disk; `publish` says it to watchers. */
  save(patch: Partial<RunSummary>): Promise<void>;
  publish(): void;
  /** Only in memory, for what can be written no more. */
  show(patch: Partial<RunSummary>): void;
  /** Whether the end of the request of this number can still come. */
  mayEnd(number: number): boolean;
  /** Writes the person's message and the run's new state as one, then tells both. */
  addUserMessage(input: UserInput, patch: Partial<RunSummary>): Promise<void>;
}

/** What a person said, and at which client, when that is known. */
export interface UserInput {
  readonly input: string;
  readonly clientId: string | undefined;
}

export function createLiveRun(
  deps: LiveRunDeps,
  stored: { summary: RunSummary; messages: readonly Message[] },
): LiveRun {
  let summary = stored.summary;
  /** With what is on its way to the disk. */
  let decided = summary;
  const messages = [...stored.messages];
  const { run_id } = summary;
  const log = createModelTurnLog(deps, { runId: run_id, isNew: messages.length === 0 });
  const nowSeconds = () => deps.clock.now() / 1000;

  const newMessage = (role: Message['role'], parts: MessagePart[]): Message => ({
    message_id: deps.newId('msg'),
    run_id,
    role,
    parts,
    status: role === 'user' ? 'done' : 'streaming',
    created_at: nowSeconds(),
  });

  const write = async (patch: Partial<RunSummary>, more: readonly Change[] = []) => {
    const run = { ...decided, ...patch, updated_at: nowSeconds() };
    decided = run;
    await deps.store.write([{ type: 'put_run', run }, ...log.takeEnded(), ...more]);
    summary = run;
  };
  const publish = () => {
    deps.bus.publish({ type: 'run', run: summary });
  };
  const publishMessage = (message: Message) => {
    deps.bus.publish({ type: 'message', run_id, message });
  };

  const beginRequest = async (message: Message, request: ModelRequest): Promise<RequestLog> => {
    const of = { message_id: message.message_id, turn: personsMessages(messages) };
    const turn = await log.begin(request, of);
    const put: Change = { type: 'put_model_turn', turn };
    if (request.beginsStep) {
      await write({ step: request.step }, [put]);
      publish();
    } else await deps.store.write([...log.takeEnded(), put]);
    return {
      answered: log.answered,
      end: log.end,
      write: () => deps.store.write(log.takeEnded()),
    };
  };

  return {
    runId: run_id,
    summary: () => summary,
    record: () => ({ ...summary, messages: [...messages] }),
    messages: () => messages,
    publish,
    save: (patch) => write(patch),
    show(patch) {
      decided = { ...decided, ...patch };
      summary = decided;
    },
    mayEnd: log.mayEnd,
    async addUserMessage({ input, clientId }, patch) {
      const message: Message = {
        ...newMessage('user', [{ type: 'text', text: input }]),
        ...(clientId === undefined ? {} : { client_id: clientId }),
      };
      const position = messages.length;
      await write(patch, [{ type: 'put_message', message, position }]);
      messages.push(message);
      publish();
      publishMessage(message);
    },
    beginMessage(): MessageWriter {
      const message = newMessage('assistant', []);
      const position = messages.length;
      messages.push(message);
      publishMessage(message);
      return createMessageWriter({
        message,
        clock: deps.clock,
        publish: (event) => void deps.bus.publish(event),
        onPublished: (published) => {
          messages[position] = published;
        },
        beginRequest: (request) => beginRequest(message, request),
        persist: (done) =>
          deps.store.write([{ type: 'put_message', message: done, position }, ...log.takeEnded()]),
      });
    },
  };
}

const personsMessages = (messages: readonly Message[]): number =>
  messages.filter(({ role }) => role === 'user').length;
