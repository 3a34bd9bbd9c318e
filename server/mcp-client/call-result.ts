import { cutAndMark } from '#lib/json/cut-to-bytes';
import { sameJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';
import { measureJson } from '#lib/json/measure-json';
import { readJson } from '#lib/json/parse-json';
import { LIMITS } from '#lib/protocol/limits';
import { given } from '#lib/util/given';
import { type ForeignFile, findFile, readForeignFile, textIn } from '../blobs/room.ts';
import { type ToolAnswer, type ToolContext, ToolError } from '../tools/room.ts';

/** A server names a resource so. It is fetched by nothing. */
interface Link {
  readonly uri: string;
  readonly name?: string;
  readonly description?: string;
  readonly mime_type?: string;
}

/** One block, as far as it could be read: nothing of another depends on it. */
interface ReadBlock {
  readonly text?: string;
  readonly file?: ForeignFile;
  /** The text of a file, which a failure says. */
  readonly words?: string;
  readonly link?: Link;
}

const RESULT_LIMITS = {
  maxBytes: LIMITS.resultBytes,
  maxDepth: LIMITS.jsonDepth,
  maxNodes: LIMITS.jsonNodes,
};

/** The text of a failure has so much at most. */
const ERROR_BYTES = 64 * 1024;
/** A block of a kind that nobody knows has so much as JSON. */
const UNKNOWN_BYTES = 16 * 1024;

const NO_REASON = 'The tool failed without a reason.';

/** A result as models and people get it: its text, its files as attachments, what else it has beside it. */
export async function toAnswer(
  result: unknown,
  attach: ToolContext['attach'],
): Promise<ToolAnswer> {
  // Its parts are read as JSON, and go as deep as it does.
  if (measureJson(result, { maxDepth: LIMITS.jsonDepth }) === 'depth') throw tooLarge('depth');
  const envelope = isRecord(result) ? result : { content: result };
  const { content, structuredContent: data, isError, _meta, resultType: _, ...rest } = envelope;
  const blocks = listOf(content).map(readBlock);
  const text = blocks.flatMap((block) => block.text || []).join('\n\n');
  const files = blocks.flatMap(({ file }) => file ?? []);
  // Some write it as a number or a text; a failure must not look like a success.
  if (isError === 1 || String(isError) === 'true') {
    const words = blocks.flatMap((block) => block.words || []);
    // A file whose words the message says is not beside it.
    await attachAll(
      blocks.flatMap((one) => (one.file && one.words === undefined ? [one.file] : [])),
      attach,
    );
    throw new ToolError(reasonOf([text, ...words, data, rest]));
  }
  refuseLarge([text, data, rest]);
  const leftOut = await attachAll(files, attach);
  const links = blocks.flatMap(({ link }) => link ?? []);
  return answerOf(text, { data: data ?? othersOf(rest, blocks), links, leftOut });
}

function answerOf(
  text: string,
  { data, links, leftOut }: { data: unknown; links: readonly Link[]; leftOut: number },
): ToolAnswer {
  const isAlone = links.length === 0 && leftOut === 0;
  if (isAlone && data === undefined) return { output: text };
  if (isAlone && (text === '' || sameJson(readJson(text), data))) return { output: data };
  return {
    output: {
      ...(text === '' ? {} : { text }),
      ...given({ structured_content: data }),
      ...(links.length > 0 && { resource_links: links }),
      ...(leftOut > 0 && { attachments_left_out: leftOut }),
    },
  };
}

/** Fields that no version of the protocol has are the result where there is no other. */
const othersOf = (rest: Record<string, unknown>, blocks: readonly ReadBlock[]): unknown =>
  blocks.length === 0 && Object.keys(rest).length > 0 ? rest : undefined;

/** A client's result has the same limits. */
function refuseLarge(parts: readonly unknown[]): void {
  const fault = measureJson(
    parts.filter((part) => part !== undefined),
    RESULT_LIMITS,
  );
  if (fault !== undefined) throw tooLarge(fault);
}

function tooLarge(fault: ReturnType<typeof measureJson>): ToolError {
  const code = fault === 'bytes' ? 'result_too_large' : 'result_invalid';
  const { maxBytes, maxDepth, maxNodes } = RESULT_LIMITS;
  const most = `${maxBytes} bytes, ${maxNodes} values, ${maxDepth} deep`;
  return new ToolError(`The result is larger than what is kept (${most}).`, { code });
}

/** All that says why, wherever the server has put it. */
function reasonOf(parts: readonly unknown[]): string {
  const reasons: string[] = [];
  for (const part of parts) {
    const reason = wordsIn(part);
    if (reason !== '' && !reasons.some((known) => known.includes(reason))) reasons.push(reason);
  }
  return cutAndMark(reasons.join('\n\n') || NO_REASON, ERROR_BYTES);
}

/** The words of a text, or of the one field that there is; else all of it as JSON. */
function wordsIn(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  if (typeof value !== 'object' || value === null) return '';
  const [only, ...others] = Object.values(value);
  if (only === undefined) return '';
  return others.length === 0 ? wordsIn(only) || jsonOf(value) : jsonOf(value);
}

const jsonOf = (value: unknown): string => cutAndMark(JSON.stringify(value), UNKNOWN_BYTES);

/** Where a list is meant, some servers give what it would hold. */
function listOf(content: unknown): readonly unknown[] {
  if (content === undefined || content === null) return [];
  return Array.isArray(content) ? content : [content];
}

function readBlock(block: unknown): ReadBlock {
  if (typeof block === 'string') return { text: block };
  if (!isRecord(block)) return block === null || block === undefined ? {} : { text: jsonOf(block) };
  const { type, text } = block;
  if (type === 'resource' || isRecord(block.resource)) {
    return readResource(isRecord(block.resource) ? block.resource : block);
  }
  if (type === 'resource_link') return linkOf(block) ?? { text: jsonOf(block) };
  const file = fileIn(block);
  if (file) return { file };
  if (typeof text === 'string') return { text };
  return { text: jsonOf(text ?? block) };
}

/** A file that lies elsewhere is not fetched. */
function fileIn(block: Record<string, unknown>): ForeignFile | undefined {
  if (block.type === 'text') return undefined;
  const found = findFile(block);
  return found && 'url' in found ? undefined : found;
}

const isDataUri = (value: unknown): value is string =>
  typeof value === 'string' && /^\s*data:/i.test(value.slice(0, 64));

const typeIn = (of: Record<string, unknown>): string | undefined =>
  textIn(of.mimeType) ?? textIn(of.mime_type) ?? textIn(of.media_type);

const NAME_CHARS = 128;

function readResource(resource: Record<string, unknown>): ReadBlock {
  const { text, blob, uri } = resource;
  const name = textIn(uri)?.split('/').at(-1)?.slice(0, NAME_CHARS) || textIn(resource.name);
  const mediaType = typeIn(resource);
  if (typeof text === 'string' && text !== '') {
    const file = { data: text, isText: true, mediaType: mediaType ?? 'text/plain' } as const;
    return { words: text, file: { ...file, ...given({ name }) } };
  }
  const data = textIn(blob) ?? textIn(resource.data);
  if (data !== undefined) return { file: { data, ...given({ name, mediaType }) } };
  return linkOf(resource) ?? { text: jsonOf(resource) };
}

function linkOf(block: Record<string, unknown>): ReadBlock | undefined {
  const uri = textIn(block.uri);
  if (uri === undefined) return undefined;
  const name = textIn(block.name) ?? textIn(block.title);
  if (isDataUri(uri)) return { file: { data: uri, ...given({ name, mediaType: typeIn(block) }) } };
  const description = textIn(block.description);
  return { link: { uri, ...given({ name, description, mime_type: typeIn(block) }) } };
}

/** How many were not kept: too many of them, too large, or nothing that can be read. */
async function attachAll(
  files: readonly ForeignFile[],
  attach: ToolContext['attach'],
): Promise<number> {
  let kept = 0;
  for (const file of files) {
    if (kept < LIMITS.attachmentsPerResult && (await attachOne(file, attach))) kept += 1;
  }
  return files.length - kept;
}

async function attachOne(file: ForeignFile, attach: ToolContext['attach']): Promise<boolean> {
  const upload = readForeignFile(file);
  if (!upload) return false;
  try {
    await attach(upload);
    return true;
  } catch (error) {
    if (error instanceof ToolError) return false;
    throw error;
  }
}
