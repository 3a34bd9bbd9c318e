import type { Message, MessagePart } from '#lib/protocol/run';
import type { WatchEventBody } from '#lib/protocol/watch-messages';
import type { Clock } from '../clock.ts';
import type { MessageWriter, ModelRequest, RequestLog } from './agent/agent.ts';

/** At most 30 deltas a second for each message (rule RU6). */
const DELTA_INTERVAL_MS = 34;

export interface MessageWriterDeps {
  readonly message: Message;
  readonly clock: Clock;
  readonly publish: (event: WatchEventBody) => void;
  /** Takes what watchers have been told, which is what a snapshot may say. */
  readonly onPublished: (message: Message) => void;
  readonly beginRequest: (request: ModelRequest) => Promise<RequestLog>;
  readonly persist: (message: Message) => Promise<void>;
}

/**
 * Writes an assistant message while watchers see it grow. Text comes as deltas,
 * coalesced; whatever else changes is told as the whole message, so that a
 * watcher that missed something is right again.
 */
export function createMessageWriter(deps: MessageWriterDeps): MessageWriter {
  let message = deps.message;
  let pending = '';
  let cancelTimer: (() => void) | undefined;

  const setParts = (parts: MessagePart[]) => {
    message = { ...message, parts };
    deps.onPublished(message);
  };

  const publish = () => deps.publish({ type: 'message', run_id: message.run_id, message });

  /** Takes what is pending into the last part. Returns it, to be told as a delta. */
  const settle = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    const delta = pending;
    pending = '';
    const last = message.parts.at(-1);
    if (delta === '' || (last?.type !== 'text' && last?.type !== 'reasoning')) return undefined;
    setParts([...message.parts.slice(0, -1), { ...last, text: last.text + delta }]);
    return { index: message.parts.length - 1, part: last.type, delta };
  };

  const flush = () => {
    const settled = settle();
    if (!settled) return;
    const { run_id, message_id } = message;
    deps.publish({ type: 'message_delta', run_id, message_id, ...settled });
  };

  const add = (part: MessagePart) => {
    settle();
    setParts([...message.parts, part]);
    publish();
  };

  return {
    beginRequest: deps.beginRequest,
    append(kind, delta) {
      if (delta === '') return;
      if (message.parts.at(-1)?.type !== kind) {
        add({ type: kind, text: delta });
        return;
      }
      pending += delta;
      cancelTimer ??= deps.clock.schedule(DELTA_INTERVAL_MS, flush);
    },
    addCall(callId) {
      add({ type: 'tool_call', tool_call_id: callId });
    },
    addNotice(notice) {
      flush();
      // A fact, not the model's unfinished text: told with the end, when it is on disk.
      message = { ...message, parts: [...message.parts, { type: 'notice', ...notice }] };
    },
    async end() {
      settle();
      message = { ...message, status: 'done' };
      await deps.persist(message);
      deps.onPublished(message);
      publish();
    },
  };
}
