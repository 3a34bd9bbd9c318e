import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { parseJson } from '#lib/json/parse-json';
import { clientMessageSchema } from '#lib/protocol/client-messages';
import { failureText } from '#lib/protocol/failure-text';
import { LIMITS } from '#lib/protocol/limits';
import { parseClientFrame, type Received } from '../../clients/room.ts';
import { type ErrorFrame, errorFrame } from './chat-frames.ts';

/** A frame of a ClawSeed app asks for one of these. */
export type ChatFrame =
  | {
      readonly type: 'connect';
      readonly deviceName: string | undefined;
      readonly capabilities: readonly string[];
    }
  | { readonly type: 'message'; readonly content: string }
  | { readonly type: 'regenerate' }
  | { readonly type: 'abort' }
  | { readonly type: 'get_registered_tools' }
  /** A message as any client sends it. */
  | { readonly type: 'client'; readonly message: Received }
  /** `message`: what it does all the same, as an answer that ends its call. */
  | { readonly type: 'refused'; readonly error: ErrorFrame; readonly message?: Received };

const JSON_LIMITS = { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes };
const MOST_NAME_CHARS = 128;
/** ClawSeed's word for a failure without one. */
const NO_TEXT = 'Unknown error';

const idSchema = z.string().min(1).max(128);
const capabilitiesSchema = z.array(z.string()).max(64).catch([]);

/** The one place where text on `/ws/chat` becomes a message. Total: it never throws. */
export function parseChatFrame(text: string): ChatFrame {
  const parsed = parseJson(text, JSON_LIMITS);
  if (!parsed.ok) return unreadable(text, parsed.message);
  if (!isRecord(parsed.value)) return refused('INVALID_JSON', 'Send a JSON object with a "type".');
  const frame = parsed.value;
  switch (frame.type) {
    case 'connect':
      return {
        type: 'connect',
        deviceName: nameOf(frame.device_name),
        capabilities: capabilitiesSchema.parse(frame.capabilities),
      };
    case 'message':
      return toMessage(frame.content);
    case 'regenerate':
    case 'abort':
    case 'get_registered_tools':
      return { type: frame.type };
    case 'register_tools':
      return toRegistration(frame.tools);
    case 'tool_result':
    case 'tool_error':
      return toAnswer(frame);
    default:
      return unknownType(frame.type);
  }
}

/** A name that people see; a longer one is cut. */
export const nameOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.slice(0, MOST_NAME_CHARS) : undefined;

function toMessage(content: unknown): ChatFrame {
  if (content !== undefined && typeof content !== 'string') {
    return refused('INVALID_MESSAGE', 'content must be a text.');
  }
  if (content === undefined || content.trim() === '') {
    return refused('EMPTY_CONTENT', 'content must not be empty.');
  }
  return { type: 'message', content };
}

function toRegistration(tools: unknown): ChatFrame {
  const checked = clientMessageSchema.safeParse({ type: 'register_tools', tools });
  if (checked.success) return { type: 'client', message: checked.data };
  const problem = checked.error.issues[0]?.message ?? 'must be a list';
  return refused('INVALID_MESSAGE', `tools: ${problem}`);
}

/** Either spelling of a failure ends the call as one, with or without a text (CLS8). */
function toAnswer(frame: Record<string, unknown>): ChatFrame {
  const id = idSchema.safeParse(frame.id);
  if (!id.success) return refused('INVALID_MESSAGE', 'id must be that of the tool_call_request.');
  if (frame.type === 'tool_result' && frame.success !== false) {
    const { output = '' } = frame;
    return { type: 'client', message: { type: 'tool_result', id: id.data, output } };
  }
  const error = failureText(frame.error) || failureText(frame.output) || NO_TEXT;
  return { type: 'client', message: { type: 'tool_error', id: id.data, error } };
}

/** An answer that is nested too deep still names its call, which ends. */
function unreadable(text: string, problem: string): ChatFrame {
  const asClient = parseClientFrame(text);
  const answer = asClient.ok ? undefined : asClient.answer;
  const refusal = refused('INVALID_JSON', `Invalid JSON. ${problem}`);
  return answer ? { ...refusal, message: answer } : refusal;
}

function unknownType(type: unknown): ChatFrame {
  const named = typeof type === 'string' ? type.slice(0, 64) : typeof type;
  return refused('UNKNOWN_MESSAGE_TYPE', `Unsupported message type ${JSON.stringify(named)}`);
}

const refused = (code: ErrorFrame['code'], message: string) =>
  ({ type: 'refused', error: errorFrame(code, message) }) as const;
