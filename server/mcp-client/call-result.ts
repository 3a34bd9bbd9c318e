import type { CallToolResult } from '@modelcontextprotocol/client';
import { sameJson } from '#lib/json/equal';
import { measureJson } from '#lib/json/measure-json';
import { LIMITS } from '#lib/protocol/limits';
import { given } from '#lib/util/given';
import type { BlobUpload } from '../blobs/blob-store.ts';
import { type ToolAnswer, type ToolContext, ToolError } from '../tools/define-tool.ts';

type Block = CallToolResult['content'][number];

/** What is known of a resource that a server names. It is fetched by nothing. */
interface Link {
  readonly uri: string;
  readonly name?: string;
  readonly description?: string;
  readonly mime_type?: string;
}

const RESULT_LIMITS = {
  maxBytes: LIMITS.resultBytes,
  maxDepth: LIMITS.jsonDepth,
  maxNodes: LIMITS.jsonNodes,
};

/** Of the text of a failure. */
const ERROR_CHARS = 64 * 1024;

const NO_REASON = 'The tool failed without a reason.';

/** A result as models and people get it: its text, its files as attachments, what else it has beside it. */
export async function toAnswer(
  { content, structuredContent, isError }: CallToolResult,
  attach: ToolContext['attach'],
): Promise<ToolAnswer> {
  const text = textOf(content);
  if (isError === true) throw new ToolError(text.slice(0, ERROR_CHARS) || NO_REASON);
  refuseLarge([text, structuredContent]);
  const files = content.flatMap((block) => fileOf(block) ?? []);
  const leftOut = await attachAll(files, attach);
  const links = content.flatMap((block) => (block.type === 'resource_link' ? [linkOf(block)] : []));
  const data: unknown = structuredContent;
  const isAlone = links.length === 0 && leftOut === 0;
  if (isAlone && data === undefined) return { output: text };
  if (isAlone && (text === '' || isTextOf(text, data))) return { output: data };
  return {
    output: {
      ...(text === '' ? {} : { text }),
      ...given({ structured_content: data }),
      ...(links.length > 0 && { resource_links: links }),
      ...(leftOut > 0 && { attachments_left_out: leftOut }),
    },
  };
}

/** A client's result has the same limits. */
function refuseLarge(parts: readonly unknown[]): void {
  const fault = measureJson(
    parts.filter((part) => part !== undefined),
    RESULT_LIMITS,
  );
  if (fault === undefined) return;
  const code = fault === 'bytes' ? 'result_too_large' : 'result_invalid';
  const { maxBytes, maxDepth, maxNodes } = RESULT_LIMITS;
  const most = `${maxBytes} bytes, ${maxNodes} values, ${maxDepth} deep`;
  throw new ToolError(`The result is larger than what is kept (${most}).`, { code });
}

const textOf = (content: readonly Block[]): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');

function isTextOf(text: string, data: unknown): boolean {
  try {
    return sameJson(JSON.parse(text), data);
  } catch {
    // It is no JSON.
    return false;
  }
}

const linkOf = ({
  uri,
  name,
  description,
  mimeType,
}: Extract<Block, { type: 'resource_link' }>): Link => ({
  uri,
  ...given({ name, description, mime_type: mimeType }),
});

type File = Omit<BlobUpload, 'bytes'> & { readonly data: string; readonly isText: boolean };

function fileOf(block: Block): File | undefined {
  if (block.type === 'image' || block.type === 'audio') {
    return { mediaType: block.mimeType, data: block.data, isText: false };
  }
  if (block.type !== 'resource') return undefined;
  const { resource } = block;
  const name = resource.uri.split('/').at(-1)?.slice(0, 128) || undefined;
  return 'blob' in resource
    ? {
        ...given({ name }),
        mediaType: resource.mimeType ?? ANY,
        data: resource.blob,
        isText: false,
      }
    : {
        ...given({ name }),
        mediaType: resource.mimeType ?? PLAIN,
        data: resource.text,
        isText: true,
      };
}

const ANY = 'application/octet-stream';
const PLAIN = 'text/plain';

/** How many were not kept: too many of them, too large, or nothing that can be read. */
async function attachAll(files: readonly File[], attach: ToolContext['attach']): Promise<number> {
  let kept = 0;
  for (const file of files.slice(0, LIMITS.attachmentsPerResult)) {
    if (await attachOne(file, attach)) kept += 1;
  }
  return files.length - kept;
}

const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

async function attachOne({ data, isText, ...file }: File, attach: ToolContext['attach']) {
  if (!isText && !isBase64(data)) return false;
  const bytes = Buffer.from(data, isText ? 'utf8' : 'base64');
  try {
    await attach({ ...file, bytes });
    return true;
  } catch (error) {
    if (error instanceof ToolError) return false;
    throw error;
  }
}
