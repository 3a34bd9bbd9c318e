import { isUtf8 } from 'node:buffer';
import type { ContentBlock } from '@modelcontextprotocol/server';
import type { Call } from '#lib/call/call';
import { wholeTextOf } from '#lib/call/model-output';
import { cutAndMark } from '#lib/json/cut-to-bytes';
import type { Attachment } from '#lib/protocol/attachment';
import type { CallError } from '#lib/protocol/call-status';
import { HttpError } from '#lib/protocol/http-error';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { given } from '#lib/util/given';
import type { BlobStore, ScaleOutcome } from '../../blobs/room.ts';
import { type AnswerRoom, BLOCKS_BYTES } from './agent-session.ts';
import { base64Length, blobUri, callUri } from './resources.ts';

/** Without `structuredContent`: hosts show a model that in place of pictures and text. */
export interface ToolResult {
  readonly content: ContentBlock[];
  readonly isError?: true;
  readonly _meta: Readonly<Record<string, unknown>>;
}

export interface ResultSources extends AnswerRoom {
  readonly blobs: Pick<BlobStore, 'read'>;
  readonly scale: (bytes: Uint8Array) => Promise<ScaleOutcome>;
}

/** The text of one result has no more: hosts cut at about 25,000 tokens. */
const TEXT_BYTES = 80 * 1024;
/** A picture or sound in a result has no more; a larger one is a link. */
const BLOCK_BYTES = 1024 * 1024;

/**
 * The asking agent gets this of a final call: first the text, always complete or with a link to
 * the rest of it; then pictures and sounds as blocks, all else as links (rules MP10 to MP14).
 */
export async function toToolResult(call: Call, sources: ResultSources): Promise<ToolResult> {
  const _meta = { 'callboard/tool_call_id': call.id };
  const isFailure = call.status !== 'SUCCEEDED';
  const { text, rest } = isFailure
    ? { text: describeFailure(call.error ?? null), rest: [] }
    : textOf(call);
  const content: ContentBlock[] = [{ type: 'text', text }, ...rest];
  let room = await roomForBlocks(call.attachments, sources);
  for (const attachment of call.attachments) {
    const block = await toBlock(attachment, sources, room);
    room -= lengthOf(block);
    content.push(block);
  }
  // Its record may have been larger, and its pictures smaller.
  sources.resizeRoom(content.reduce((sum, block) => sum + lengthOf(block), 0));
  return { content, ...(isFailure && { isError: true }), _meta };
}

const textResult = (text: string, _meta: ToolResult['_meta']): ToolResult => ({
  content: [{ type: 'text', text }],
  _meta,
});

/** A refusal before there was a call, or an end without a result. */
export const failedResult = (text: string, _meta: ToolResult['_meta'] = {}): ToolResult => ({
  ...textResult(text, _meta),
  isError: true,
});

function textOf(call: Call): { text: string; rest: ContentBlock[] } {
  const whole = wholeTextOf(call) ?? '';
  if (whole === '' || (whole === 'null' && call.attachments.length > 0)) {
    return { text: describeEmpty(call.attachments), rest: [] };
  }
  const text = cutAndMark(whole, TEXT_BYTES);
  if (text === whole) return { text, rest: [] };
  const isJson = typeof call.result !== 'string';
  const link: ContentBlock = {
    type: 'resource_link',
    uri: callUri(call.id),
    name: `${call.toolName} result`,
    mimeType: isJson ? 'application/json' : 'text/plain',
    description: 'The whole text of the result.',
    size: Buffer.byteLength(whole),
  };
  return { text, rest: [link] };
}

const describeEmpty = ({ length }: readonly Attachment[]): string =>
  length === 0 ? 'It ran and gave no result.' : `It ran and gave ${length} attachment(s).`;

const EXECUTED: Readonly<Record<CallError['executed'], string>> = {
  no: 'It did not run.',
  yes: 'It ran.',
  unknown: 'It may have run; look before you repeat it.',
};

/** `message (code). It did not run.` */
function describeFailure(error: CallError | null): string {
  if (!error) return 'The call ended without a result. It may have run; look before you repeat it.';
  const clock = error.clock === undefined ? '' : `, clock ${error.clock}`;
  const message = cutAndMark(error.message, TEXT_BYTES);
  return `${message}\n(${error.code}${clock}) ${EXECUTED[error.executed]}`;
}

/** A link has next to nothing, and so has the first block, whose text is bounded. */
function lengthOf(block: ContentBlock): number {
  if (block.type === 'image' || block.type === 'audio') return block.data.length;
  if (block.type !== 'resource') return 0;
  return 'text' in block.resource ? block.resource.text.length : block.resource.blob.length;
}

/** None where too many large answers wait: the call has run, so its files are links then, and no failure. */
async function roomForBlocks(
  attachments: readonly Attachment[],
  { makeRoom }: ResultSources,
): Promise<number> {
  const sizes = attachments.filter(isBlock).map(({ size }) => size);
  if (sizes.length === 0) return 0;
  const all = sizes.reduce((sum, size) => sum + Math.min(size, BLOCK_BYTES), 0);
  try {
    // One at a time is whole in memory, before it is made smaller.
    await makeRoom(Math.max(...sizes) + Math.min(base64Length(all), BLOCKS_BYTES));
    return BLOCKS_BYTES;
  } catch (error) {
    if (error instanceof HttpError) return 0;
    throw error;
  }
}

/** Text, whatever the name of its kind begins with: JSON, CSV, XML, SVG. */
const IS_TEXT = /^text\/|[/+](?:json|xml|yaml|csv)\b/;

const contentOf = ({ media_type }: Attachment): ToContent | undefined =>
  IS_TEXT.test(media_type) ? toText : CONTENT_OF[media_type.split('/', 1)[0] ?? ''];

/** Pictures are made smaller. */
function isBlock(attachment: Attachment): boolean {
  const toContent = contentOf(attachment);
  return toContent !== undefined && (attachment.size <= BLOCK_BYTES || toContent === toPicture);
}

async function toBlock(
  attachment: Attachment,
  sources: ResultSources,
  room: number,
): Promise<ContentBlock> {
  const toContent = contentOf(attachment);
  if (!toContent || room === 0 || !isBlock(attachment)) return toLink(attachment);
  const blob = await sources.blobs.read(attachment.blob_id);
  const block = blob && (await toContent(attachment, blob.bytes, sources));
  return block && lengthOf(block) <= room ? block : toLink(attachment);
}

type ToContent = (
  attachment: Attachment,
  bytes: Uint8Array,
  sources: ResultSources,
) => ContentBlock | undefined | Promise<ContentBlock | undefined>;

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const toPicture: ToContent = async (_, bytes, { scale }) => {
  const scaled = await scale(bytes);
  if (!scaled.ok) return undefined;
  return { type: 'image', data: toBase64(scaled.bytes), mimeType: scaled.mediaType };
};

const CONTENT_OF: Readonly<Record<string, ToContent | undefined>> = {
  image: toPicture,
  audio: ({ media_type }, bytes) => ({
    type: 'audio',
    data: toBase64(bytes),
    mimeType: media_type,
  }),
};

const toText: ToContent = ({ blob_id, media_type }, bytes) =>
  isUtf8(bytes)
    ? {
        type: 'resource',
        resource: {
          uri: blobUri(blob_id),
          mimeType: media_type,
          text: Buffer.from(bytes).toString('utf8'),
        },
      }
    : undefined;

const toLink = ({ blob_id, media_type, size, name, alt }: Attachment): ContentBlock => ({
  type: 'resource_link',
  uri: blobUri(blob_id),
  name: name ?? blob_id,
  mimeType: media_type,
  size,
  ...given({ description: alt }),
});

/** The call has ended, and its record has no room among the large answers now. */
export const fetchedLater = (callId: string): ToolResult =>
  textResult(
    `Too many large answers are asked for at once. Get the result in a moment, with callboard_result {"call": "${callId}"}; do not call the tool again.`,
    { 'callboard/tool_call_id': callId },
  );

/** The call is not final yet, and its client waits no longer. */
export const stillRunning = (call: Call, waitsFor: string): ToolResult =>
  textResult(
    `The call ${call.id} of ${call.toolName} goes on: ${waitsFor} Get its result with callboard_result {"call": "${call.id}"}; do not call the tool again.`,
    { 'callboard/tool_call_id': call.id, 'callboard/final': isFinalStatus(call.status) },
  );
