import { cutAndMark, headAndTail } from '../json/cut-to-bytes.ts';
import { isRecord } from '../json/is-record.ts';
import { type Attachment, isImage } from '../protocol/attachment.ts';
import type { CallError, CallStatus } from '../protocol/call-status.ts';
import { isFinalStatus } from '../protocol/is-final-status.ts';
import { READ_RESULT, SEARCH_TOOLS } from '../protocol/run-tools.ts';
import { toModelName } from '../protocol/tool-name.ts';
import { stripInvisible } from '../text/invisible.ts';
import { wellFormed } from '../text/map-texts.ts';
import { mapTexts, redactShapes } from '../text/redact.ts';
import { MARK_BYTES, markUntrusted } from '../text/untrusted.ts';
import type { Call } from './call.ts';
import { bytesOf, describeFiles, headBytesOf, textBytesOf } from './describe-files.ts';
import { isUntrustedResult } from './untrusted-result.ts';

/** These fields of a final call matter to a model. The wire's record fits as it is. */
export interface FinishedCall {
  /** Under it the rest of a long result is read. */
  readonly tool_call_id: string;
  readonly tool_name: string;
  /** Text that is not trusted is marked (MO11). */
  readonly source: Call['source'];
  readonly trusted?: boolean | undefined;
  readonly status: CallStatus;
  readonly result?: unknown;
  readonly error: CallError | null | undefined;
  readonly attachments: readonly Attachment[];
  /** The call ran with these where a person changed its arguments. */
  readonly editedArgs?: Call['args'] | undefined;
}

export interface ModelOutput {
  readonly text: string;
  /** The text has beginning and end of a longer one, and how the rest is read. */
  readonly cut: boolean;
  /** Pictures that may be shown to a model beside the text, which describes each of them. */
  readonly images: Attachment[];
}

/**
 * Stored with the hash of each text that was sent. Any change of the text that a record becomes
 * needs the next number (rule MO9).
 */
export const MODEL_OUTPUT_VERSION = 8;

/**
 * Bytes of UTF-8, where the configuration has no other bound. A model pays for every one of them
 * again in each later step.
 */
export const MODEL_OUTPUT_BYTES = 32 * 1024;
/** Room for what is said of a cut text, after it. */
const NOTE_BYTES = 640;

const UNKNOWN_OUTCOME =
  'Tool result unavailable; it may or may not have run. Check before repeating.';

/** It is about arguments that a person wrote. */
const EDITED_BYTES = 2 * 1024;

/** A text within its bound. */
interface Rendered {
  readonly text: string;
  /** The server says this of a longer text; empty where this is all of it. */
  readonly note: string;
}

/**
 * The model gets this of a call (rules MO1 to MO8, MO10 to MO12), in at most `maxBytes`. The agent
 * loop sends this and the card's "what the model got" shows this, so the two cannot differ.
 */
export function toModelOutput(call: FinishedCall, maxBytes = MODEL_OUTPUT_BYTES): ModelOutput {
  const edit = redactShapes(describeEdit(call));
  const most = maxBytes - bytesOf(edit);
  const isMarked = isMarkedResult({ ...call, toolName: call.tool_name });
  const { text: whole, note } = rendered(call, isMarked ? most - MARK_BYTES : most);
  // A cut text is short; it gets no longer.
  const text = redactShapes(whole);
  return {
    text: `${isMarked ? markUntrusted(text) : text}${note}${edit}`,
    cut: note !== '',
    images: call.attachments.filter(isShowable),
  };
}

const isShowable = (file: Attachment): boolean => isImage(file) && file.unreadable === undefined;

/** The words are the executor's, and not the server's about it. */
export const isOfExecutor = ({
  status,
  error,
}: {
  readonly status: CallStatus;
  readonly error?: CallError | null | undefined;
}): boolean =>
  status === 'SUCCEEDED' ||
  error?.code === 'tool_error' ||
  error?.code === 'result_invalid' ||
  // A client that could not send it says so in its own words.
  (error?.code === 'result_too_large' && error.client_code !== undefined);

/** True when a model is given the words between marks (MO11). */
export const isMarkedResult = (
  call: Parameters<typeof isUntrustedResult>[0] & Parameters<typeof isOfExecutor>[0],
): boolean => isUntrustedResult(call) && isOfExecutor(call);

/** Result or failure, and after it the files that came with it. */
function rendered(call: FinishedCall, most: number): Rendered {
  const { attachments: files, tool_call_id: callId } = call;
  const isResult = call.status === 'SUCCEEDED';
  const body = isResult
    ? stripInvisible(resultText(mapTexts(resultForModel(call), wellFormed)))
    : '';
  const whole = body || (files.length > 0 ? '' : '(empty result)');
  const inRoom = (room: number) =>
    isResult ? excerptOf(call, whole, room) : describeFailure(call, room);
  if (files.length === 0) return inRoom(most);
  const room = most - headBytesOf(files) - NOTE_BYTES;
  // Texts of files leave half of the room to a result that needs it.
  const ofResult = Math.min(bytesOf(whole || call.error?.message || ''), room / 2);
  const ofTexts = Math.min(textBytesOf(files), room - ofResult);
  const { text: described, note: more } = describeFiles(
    files,
    headBytesOf(files) + ofTexts,
    callId,
  );
  if (isResult && body === '') return { text: described, note: more };
  const { text, note } = inRoom(most - bytesOf(described) - bytesOf(more) - 1);
  return { text: `${text}\n${described}`, note: `${note}${more}` };
}

/** A model is sent this of a call as it is stored; of one that is not there the neutral words. */
export const outputOfRecord = (
  record: Call | undefined,
  maxBytes = MODEL_OUTPUT_BYTES,
): ModelOutput => toModelOutput(toFinished(record), maxBytes);

const toFinished = (record: Call | undefined): FinishedCall => ({
  tool_call_id: record?.id ?? '',
  tool_name: record?.toolName ?? 'unknown_tool',
  source: record?.source ?? 'server',
  trusted: record?.trusted,
  status: record?.status ?? 'PENDING',
  result: record?.result,
  error: record?.error ?? null,
  attachments: record?.attachments ?? [],
  editedArgs: record?.card.approval_decision?.edited ? record.args : undefined,
});

/**
 * All of the text of which a model is sent beginning and end: of a result, or of the message of a
 * failure. Offsets into it are those that the model reads. Undefined of a call that is not final.
 */
export function wholeTextOf(record: Call): string | undefined {
  if (!isFinalStatus(record.status)) return undefined;
  const isResult = record.status === 'SUCCEEDED';
  return stripInvisible(
    isResult
      ? resultText(mapTexts(resultForModel({ ...record, tool_name: record.toolName }), wellFormed))
      : (record.error?.message ?? ''),
  );
}

/** Head and tail of what has no room (MO3). */
function excerptOf(
  call: FinishedCall,
  whole: string,
  most: number,
  kept = most - NOTE_BYTES,
): Rendered {
  const parts = headAndTail(whole, most, kept);
  if (!parts) return { text: whole, note: '' };
  const { head, tail } = parts;
  const leftOut = whole.length - head.length - tail.length;
  const text = `${head}\n[… ${leftOut} characters left out …]\n${tail}`;
  return { text, note: describeRest(call, whole, parts) };
}

/** The server's words, so that no result can pass for them. */
function describeRest(
  { tool_call_id, status, result }: FinishedCall,
  whole: string,
  { head, tail }: { readonly head: string; readonly tail: string },
): string {
  const isJson = status === 'SUCCEEDED' && typeof result !== 'string';
  const size = `${whole.length} characters (${bytesOf(whole)} bytes)`;
  const read = `${toModelName(READ_RESULT)} with the handle ${JSON.stringify(tool_call_id)}`;
  return [
    `\n[This is not all of it: there are ${size}, of which the first ${head.length} and the last ${tail.length} stand above.`,
    ` ${read} reads the rest, from offset ${head.length} on, or searches it.`,
    isJson ? ' It is the text of JSON; parts of it are not valid JSON.' : '',
    ']',
  ].join('');
}

const resultText = (result: unknown): string =>
  typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null');

function describeFailure(call: FinishedCall, most: number): Rendered {
  const error = publicError(call);
  const wrap = (message: string) => JSON.stringify({ error: { ...error, message } });
  const message = stripInvisible(error.message);
  const whole = wrap(message);
  if (bytesOf(whole) <= most) return { text: whole, note: '' };
  // The sign of the cut must lie inside the JSON, and quoting can make text longer than it was.
  const room = Math.floor((most - NOTE_BYTES - bytesOf(wrap(''))) / 6);
  const { text, note } = excerptOf(call, message, room, room);
  return { text: wrap(text), note };
}

function publicError(call: FinishedCall): Pick<CallError, 'code' | 'message' | 'executed'> {
  if (!isFinalStatus(call.status) || !call.error || call.error.executed === 'unknown') {
    const code = call.error?.code ?? 'outcome_unknown';
    const reported = code === 'tool_error' ? ` It reports: ${call.error?.message}` : '';
    return { code, message: `${UNKNOWN_OUTCOME}${reported}`, executed: 'unknown' };
  }
  const { code, message, executed } = call.error;
  return { code, message, executed };
}

/** The server's words, so that a client's result cannot pass for them. */
function describeEdit({ editedArgs }: FinishedCall): string {
  if (editedArgs === undefined) return '';
  const edited = cutAndMark(stripInvisible(JSON.stringify(editedArgs)), EDITED_BYTES);
  return `\n[A person changed the arguments; the call has run with ${edited}]`;
}

/**
 * A result as a model is sent it. Of `tools.search` that has each name in the spelling of models,
 * and the description of a client's tool marked (RT7); the record has both as they are.
 */
function resultForModel(call: {
  readonly tool_name: string;
  readonly source: string;
  readonly result?: unknown;
}): unknown {
  const { tool_name, source, result } = call;
  if (tool_name !== SEARCH_TOOLS || source !== 'server' || !isRecord(result)) return result;
  if (!Array.isArray(result.tools)) return result;
  return { ...result, tools: result.tools.map(forModel) };
}

function forModel(tool: unknown): unknown {
  if (!isRecord(tool) || typeof tool.name !== 'string') return tool;
  const { name, source, description } = tool;
  const isMarked = source === 'client' && typeof description === 'string';
  return {
    ...tool,
    name: toModelName(name),
    ...(isMarked ? { description: markUntrusted(description) } : {}),
  };
}
