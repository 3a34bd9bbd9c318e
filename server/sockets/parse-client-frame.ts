import { type ClientMessage, clientMessageSchema } from '#lib/protocol/client-messages';
import { LIMITS } from '#lib/protocol/limits';
import { parseJson } from '#lib/schema/parse-json';

export type ParsedFrame =
  | { readonly ok: true; readonly message: ClientMessage }
  | {
      readonly ok: false;
      readonly message: string;
      readonly id: string | undefined;
      /** The call that it wanted to answer. */
      readonly answerTo: string | undefined;
    };

/** The limit is that of the fields; type, id and attempt stand around them. */
const STATUS_FRAME_CHARS = LIMITS.statusBytes + 1_024;

/** The one place where a client's text becomes a message. Total: it never throws. */
export function parseClientFrame(text: string): ParsedFrame {
  const parsed = parseJson(text, { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes });
  if (!parsed.ok) {
    const id = ANSWER_HEAD.exec(text)?.[1];
    return { ok: false, message: parsed.message, id, answerTo: id };
  }
  const checked = clientMessageSchema.safeParse(parsed.value);
  if (checked.success) {
    const { data: message } = checked;
    return message.type === 'tool_status' && text.length > STATUS_FRAME_CHARS
      ? statusTooLong(message.id)
      : { ok: true, message };
  }
  const [issue] = checked.error.issues;
  const where = issue?.path.join('.') || 'the message';
  const id = idOf(parsed.value);
  return {
    ok: false,
    message: `${where}: ${issue?.message ?? 'is not a message of this protocol'}`,
    id,
    answerTo: isAnswer(parsed.value) ? id : undefined,
  };
}

/** Of an answer too deep or too large to be parsed, as this system's own clients begin it. */
const ANSWER_HEAD =
  /^\s*\{\s*"type"\s*:\s*"tool_(?:result|error)"\s*,\s*"id"\s*:\s*"([^"\\]{1,128})"/;

const isAnswer = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  (value.type === 'tool_result' || value.type === 'tool_error');

/** A status goes to every watcher and stays on its card; what is large belongs into the result. */
const statusTooLong = (id: string): ParsedFrame => ({
  ok: false,
  answerTo: undefined,
  message: `A tool_status takes at most ${LIMITS.statusBytes} bytes; send large data with the result`,
  id,
});

/** So that a client can tell which of its messages was not understood. */
function idOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  return typeof value.id === 'string' && value.id.length <= 128 ? value.id : undefined;
}
