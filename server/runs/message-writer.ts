import type { Message, MessagePart } from '#lib/protocol/run';
import type { WatchEventBody } from '#lib/protocol/watch-messages';
import type { Clock } from '../clock.ts';
import type { MessageWriter, ModelRequest, RequestLog } from './agent/agent.ts';
import type { Notice } from './agent/notices.ts';

/** At most 30 deltas a second for each message (rule RU6). */
const DELTA_INTERVAL_MS = 34;

export interface MessageWriterDeps {
  readonly message: Message;
  readonly clock: Clock;
  readonly publish: (event: WatchEventBody) => void;
  /** Takes what was published, which is what a snapshot may show. */
  readonly onPublished: (message: Message) => void;
  readonly beginRequest: (request: ModelRequest) => Promise<RequestLog>;
  readonly persist: (message: Message) => Promise<void>;
}

/**
 * Writes an assistant message while watchers see it grow. Text comes as deltas,
 * coalesced; whatever else changes is published as the whole message, so that a
 * watcher that missed something is right again.
 */
export const createMessageWriter = (deps: MessageWriterDeps): MessageWriter =>
  new PublishedMessage(deps);

class PublishedMessage implements MessageWriter {
  readonly #deps: MessageWriterDeps;
  #message: Message;
  #pending = '';
  #cancelTimer: (() => void) | undefined;

  constructor(deps: MessageWriterDeps) {
    this.#deps = deps;
    this.#message = deps.message;
  }

  beginRequest(request: ModelRequest): Promise<RequestLog> {
    return this.#deps.beginRequest(request);
  }

  append(kind: 'text' | 'reasoning', delta: string): void {
    if (delta === '') return;
    if (this.#message.parts.at(-1)?.type !== kind) return this.#add({ type: kind, text: delta });
    this.#pending += delta;
    this.#cancelTimer ??= this.#deps.clock.schedule(DELTA_INTERVAL_MS, () => this.#flush());
  }

  addCall(callId: string): void {
    this.#add({ type: 'tool_call', tool_call_id: callId });
  }

  addNotice(notice: Notice): void {
    this.#flush();
    // A fact, not the model's unfinished text: published with the end, when it is on disk.
    const parts: MessagePart[] = [...this.#message.parts, { type: 'notice', ...notice }];
    this.#message = { ...this.#message, parts };
  }

  async end(): Promise<void> {
    this.#settle();
    this.#message = { ...this.#message, status: 'done' };
    await this.#deps.persist(this.#message);
    this.#deps.onPublished(this.#message);
    this.#publish();
  }

  #add(part: MessagePart): void {
    this.#settle();
    this.#setParts([...this.#message.parts, part]);
    this.#publish();
  }

  #setParts(parts: MessagePart[]): void {
    this.#message = { ...this.#message, parts };
    this.#deps.onPublished(this.#message);
  }

  #publish(): void {
    const message = this.#message;
    this.#deps.publish({ type: 'message', run_id: message.run_id, message });
  }

  #flush(): void {
    const settled = this.#settle();
    if (!settled) return;
    const { run_id, message_id } = this.#message;
    this.#deps.publish({ type: 'message_delta', run_id, message_id, ...settled });
  }

  /** Takes what is pending into the last part. Returns it, to be published as a delta. */
  #settle() {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const delta = this.#pending;
    this.#pending = '';
    const { parts } = this.#message;
    const last = parts.at(-1);
    if (delta === '' || (last?.type !== 'text' && last?.type !== 'reasoning')) return undefined;
    this.#setParts([...parts.slice(0, -1), { ...last, text: last.text + delta }]);
    return { index: parts.length - 1, part: last.type, delta };
  }
}
