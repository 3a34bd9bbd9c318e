import type { Message, MessagePart } from '#lib/protocol/run';
import { mapTexts } from '#lib/text/redact';
import { createRedactedStream, type RedactedStream, type Secrets } from '#lib/text/secrets';
import { withEllipsis } from '#lib/text/with-ellipsis';
import { given } from '#lib/util/given';
import type { Clock } from '../base/clock.ts';
import type { EventBus } from '../events/room.ts';
import type { Notice } from './agent/notices.ts';
import { createReplayDraft, type MessageReplay, type ReplayMetadata } from './agent/replay.ts';
import type { ModelRequest, RequestLog } from './model-turn-log.ts';

/** At most 30 deltas a second for each message (rule RU6). */
const DELTA_INTERVAL_MS = 34;

/** Longer ids, or with other characters, are not what a provider makes. */
const OWN_ID = /^[\w.:-]{1,64}$/;

/** Characters of reasoning that a message shows; models may think for longer. */
const MOST_REASONING = 64 * 1024;

/** A stretch of text or reasoning that the provider sets apart from the next. */
interface AnswerBlock {
  readonly id: string;
  readonly isStart?: boolean;
  readonly isEnd?: boolean;
  /** Reasoning that stood in the text: no provider gave it as such, and none is sent it back. */
  readonly isOfText?: boolean;
  readonly metadata?: ReplayMetadata | undefined;
}

/** The run of a message. */
interface WritingRun {
  beginRequest(messageId: string, request: ModelRequest): Promise<RequestLog>;
  /** Shows watchers of later this form of the message. */
  keep(message: Message): void;
  putMessage(message: Message, position: number, replay: MessageReplay | undefined): Promise<void>;
  publishMessage(message: Message): void;
}

/** With what a message is written. */
interface Writing {
  readonly clock: Clock;
  readonly bus: EventBus;
  readonly secrets: Secrets;
  /** In its run. */
  readonly position: number;
}

/**
 * Writes an assistant message of a run while watchers see it grow. Text comes as deltas,
 * coalesced; whatever else changes is published as the whole message, so that a
 * watcher that missed something is right again.
 */
export class MessageWriter {
  readonly #run: WritingRun;
  readonly #of: Writing;
  #message: Message;
  #pending = '';
  /** The stream of the last part, while its text may go on. */
  #open: RedactedStream | undefined;
  readonly #replay = createReplayDraft();
  /** The places of the parts that blocks of the answer went to. */
  readonly #places = new Map<string, number>();
  /** The metadata of a block that has no part yet. */
  readonly #early = new Map<string, ReplayMetadata>();
  #reasoningShown = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(run: WritingRun, message: Message, of: Writing) {
    this.#run = run;
    this.#of = of;
    this.#message = message;
  }

  /**
   * Writes down the request whose answer this message is to be, with the step that it begins.
   * Resolves once that is on disk: no model is asked before.
   */
  beginRequest(request: ModelRequest) {
    return this.#run.beginRequest(this.#message.message_id, request);
  }

  append(kind: 'text' | 'reasoning', delta: string, block?: AnswerBlock): void {
    const key = `${kind} ${block?.id ?? ''}`;
    if (block?.isStart) this.#places.delete(key);
    if (block?.metadata) this.#describe(key, block.metadata);
    // Thoughts that a provider keeps to itself come without a text, and go back like others.
    const isHidden = kind === 'reasoning' && block?.isEnd === true && this.#early.has(key);
    if (delta === '' && !isHidden) return;
    const isNew = this.#places.get(key) !== this.#message.parts.length - 1;
    if (isNew) {
      this.#endText();
      this.#places.set(key, this.#message.parts.length);
      this.#open = createRedactedStream(this.#of.secrets);
    }
    const clean = this.#open?.add(delta) ?? '';
    const shown = kind === 'reasoning' ? this.#shownReasoning(clean) : clean;
    if (isNew) this.#begin(key, { type: kind, text: shown });
    if (kind === 'reasoning' && !block?.isOfText)
      this.#replay.reasoning(this.#message.parts.length - 1, delta);
    if (isNew || shown === '') return;
    this.#pending += shown;
    this.#cancelTimer ??= this.#of.clock.schedule(DELTA_INTERVAL_MS, () => this.#flush());
  }

  /** The text that was written so far was reasoning. */
  rethink(): void {
    this.#endText();
    this.#settle();
    this.#places.clear();
    const parts = this.#message.parts.map(
      (part): MessagePart =>
        part.type === 'text'
          ? { ...part, type: 'reasoning', text: this.#shownReasoning(part.text) }
          : part,
    );
    this.#setParts(parts);
    this.#publish();
  }

  /** `modelId`: the id that the model itself gave the call. */
  addCall(callId: string, modelId?: string): void {
    this.#endText();
    const key = callKey(callId);
    const at = this.#message.parts.length;
    this.#places.set(key, at);
    const ownId = this.ownId(modelId);
    this.#begin(key, {
      type: 'tool_call',
      tool_call_id: callId,
      ...given({ model_call_id: ownId }),
    });
    if (ownId !== undefined) this.#replay.call(at, ownId);
  }

  /** The model's id of a call where it is one that can be kept: of the usual form, and no secret. */
  ownId(modelId: string | undefined): string | undefined {
    const isUsable = modelId !== undefined && OWN_ID.test(modelId);
    return isUsable && this.#of.secrets.hide(modelId) === modelId ? modelId : undefined;
  }

  describeCall(callId: string, metadata: ReplayMetadata): void {
    this.#describe(callKey(callId), metadata);
  }

  /** For people only; a model never reads it. */
  addNotice(notice: Notice): void {
    this.#endText();
    this.#flush();
    // A fact, not the model's unfinished text: published with the end, when it is on disk.
    const shown = mapTexts(notice, this.#of.secrets.hide);
    const parts: MessagePart[] = [...this.#message.parts, { type: 'notice', ...shown }];
    this.#message = { ...this.#message, parts };
  }

  /** Published at once: what it tells is so already, whatever becomes of the message. */
  showNotice(notice: Notice): void {
    this.addNotice(notice);
    this.#setParts(this.#message.parts);
    this.#publish();
  }

  /**
   * Resolves once the message is on disk, with the end of its request, and published as done.
   * `model`: whose whole answer it is, which is sent back with what its provider said of it.
   */
  async end(model?: string): Promise<void> {
    this.#endText();
    this.#settle();
    this.#message = { ...this.#message, status: 'done' };
    const texts = this.#message.parts.map((part) => ('text' in part ? part.text : undefined));
    const replay =
      model === undefined ? undefined : this.#replay.finish(model, texts, this.#of.secrets.hide);
    await this.#run.putMessage(this.#message, this.#of.position, replay);
    this.#run.keep(this.#message);
    this.#publish();
  }

  #begin(key: string, part: MessagePart): void {
    this.#settle();
    this.#setParts([...this.#message.parts, part]);
    this.#publish();
    const early = this.#early.get(key);
    this.#early.delete(key);
    if (early) this.#describe(key, early);
  }

  #describe(key: string, metadata: ReplayMetadata): void {
    const at = this.#places.get(key);
    if (at === undefined) this.#early.set(key, metadata);
    else this.#replay.metadata(at, metadata);
  }

  /** The last text has ended: what was kept back of it is no beginning of a secret. */
  #endText(): void {
    const rest = this.#open?.end() ?? '';
    this.#open = undefined;
    const isReasoning = this.#message.parts.at(-1)?.type === 'reasoning';
    this.#pending += isReasoning && rest !== '' ? this.#shownReasoning(rest) : rest;
  }

  #shownReasoning(delta: string): string {
    const room = MOST_REASONING - this.#reasoningShown;
    this.#reasoningShown += delta.length;
    return room < 0 ? '' : withEllipsis(delta, room);
  }

  #setParts(parts: MessagePart[]): void {
    this.#message = { ...this.#message, parts };
    this.#run.keep(this.#message);
  }

  #publish(): void {
    this.#run.publishMessage(this.#message);
  }

  #flush(): void {
    const settled = this.#settle();
    if (!settled) return;
    const { run_id, message_id } = this.#message;
    this.#of.bus.publish({ type: 'message_delta', run_id, message_id, ...settled });
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

const callKey = (callId: string): string => `call ${callId}`;
