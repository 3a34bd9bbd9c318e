import { isRecord } from '../json/is-record.ts';
import { parseJsonAsIs } from '../json/parse-json.ts';
import type { AttachmentUpload, ClientMessageOf } from '../protocol/client-messages.ts';
import { LIMITS } from '../protocol/limits.ts';
import { toBase64 } from '../util/base64.ts';
import { errorMessage } from '../util/error-message.ts';
import { type ClientToolAnswer, type ToolAttachment, ToolFailure } from './client-tool.ts';
import type { CallAnswer } from './journal.ts';

/** Attachments from this size on are uploaded, so that they do not hold up the socket. */
export const INLINE_BYTES = 256 * 1024;
/** Room in a frame for the message around its output and attachments. */
const FRAME_SLACK_BYTES = 1_024;

export interface EncodeOptions {
  readonly uploadBlob: UploadBlob | undefined;
  readonly onProblem: (message: string) => void;
}

/** A tool's answer as the message that carries it. Throws `ToolFailure` when it cannot be sent. */
export async function encodeAnswer(
  call: { readonly id: string; readonly attempt: number },
  given: ClientToolAnswer,
  options: EncodeOptions,
): Promise<CallAnswer> {
  const { output, display, attachments = [] } = withOutput(given);
  if (attachments.length > LIMITS.attachmentsPerResult) {
    throw tooLarge(`${attachments.length} attachments`, `${LIMITS.attachmentsPerResult}`);
  }
  const uploads: AttachmentUpload[] = [];
  for (const attachment of attachments) uploads.push(await encodeAttachment(attachment, options));
  const message: ClientMessageOf<'tool_result'> = {
    type: 'tool_result',
    id: call.id,
    attempt: call.attempt,
    success: true,
    output: toJson(output, 'output'),
    ...(display === undefined ? {} : { display: toJson(display, 'display') }),
    ...(uploads.length === 0 ? {} : { attachments: uploads }),
  };
  const text = JSON.stringify(message);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > LIMITS.frameBytes - FRAME_SLACK_BYTES) {
    throw tooLarge(`${bytes} bytes with its attachments`, `${LIMITS.frameBytes} bytes`);
  }
  // The server reads it so: it could not even tell which call an answer was for that it cannot read.
  const read = parseJsonAsIs(text, { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes });
  if (!read.ok) throw new ToolFailure('internal', `The result cannot be sent: ${read.message}`);
  return message;
}

/** A program without types may return the bare value, which would be lost without a word. */
function withOutput(given: ClientToolAnswer): ClientToolAnswer {
  if (isRecord(given) && 'output' in given) return given;
  const what = given === undefined ? 'nothing' : 'a value without "output"';
  throw new ToolFailure(
    'internal',
    `The tool ran, but it returned ${what}; it must return { output: … }.`,
  );
}

/** A failure as the message that carries it. */
export const encodeFailure = (
  call: { readonly id: string; readonly attempt: number },
  failure: ToolFailure,
): CallAnswer => ({
  type: 'tool_error',
  id: call.id,
  attempt: call.attempt,
  success: false,
  error: failure.message,
  code: failure.code,
});

async function encodeAttachment(
  { blob, mediaType, name, alt }: ToolAttachment,
  { uploadBlob, onProblem }: EncodeOptions,
): Promise<AttachmentUpload> {
  const bytes = blob instanceof Uint8Array ? blob : new Uint8Array(await blob.arrayBuffer());
  const about = { media_type: mediaType, ...(name && { name }), ...(alt && { alt }) };
  if (bytes.length >= INLINE_BYTES && uploadBlob) {
    try {
      return { ...about, blob_id: await uploadBlob({ bytes, mediaType }) };
    } catch (error) {
      // The socket may still be there, or come back, when HTTP is not.
      onProblem(`upload failed, sending it in the message instead: ${errorMessage(error)}`);
    }
  }
  if (bytes.length > LIMITS.attachmentBytes) {
    throw tooLarge(`an attachment of ${bytes.length} bytes`, `${LIMITS.attachmentBytes} bytes`);
  }
  return { ...about, data: toBase64(bytes) };
}

/** Through text and back: what cannot be told as JSON is found here, not on the socket. */
function toJson(value: unknown, what: string): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value ?? null);
  } catch (error) {
    throw new ToolFailure('internal', `The tool's ${what} is not JSON: ${errorMessage(error)}`);
  }
  if (text === undefined) throw new ToolFailure('internal', `The tool's ${what} is not JSON.`);
  if (text.length > LIMITS.resultBytes) {
    throw tooLarge(
      `${text.length} bytes of ${what}`,
      `${LIMITS.resultBytes} bytes`,
      ' Send large data as an attachment.',
    );
  }
  return JSON.parse(text);
}

const tooLarge = (what: string, limit: string, instead = ''): ToolFailure =>
  new ToolFailure(
    'result_too_large',
    `The result has ${what}; at most ${limit} can be sent.${instead}`,
  );

/** Stores bytes with the server outside the socket; gives the blob's id, or rejects. */
export type UploadBlob = (upload: {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}) => Promise<string>;

/** Uploads by `POST <baseUrl>/v1/blobs` (contract, section 6). */
export function createHttpUploadBlob({
  baseUrl,
  fetch,
  headers = {},
}: {
  baseUrl: string;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  headers?: Readonly<Record<string, string>>;
}): UploadBlob {
  return async ({ bytes, mediaType }) => {
    const response = await fetch(`${baseUrl}/v1/blobs`, {
      method: 'POST',
      headers: { ...headers, 'content-type': mediaType },
      body: new Blob([new Uint8Array(bytes)], { type: mediaType }),
    });
    if (!response.ok) throw new Error(`/v1/blobs answered ${response.status}, not 2xx`);
    const answer: unknown = await response.json();
    if (!isRecord(answer) || typeof answer.blob_id !== 'string') {
      throw new Error('/v1/blobs answered without a blob_id');
    }
    return answer.blob_id;
  };
}
