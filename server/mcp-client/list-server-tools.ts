import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { estimateJsonBytes } from '#lib/json/measure-json';
import { given } from '#lib/util/given';
import { foreignNameOf } from './foreign-tools.ts';
import { MOST_TOOLS } from './offered-tools.ts';
import { ask } from './task-messages.ts';

const MOST_PAGES = 50;
const PAGE_MS = 30_000;
/** Of all pages together, as of one message: 50 whole ones would fill the memory. */
const MOST_LIST_BYTES = 12 * 1024 * 1024;

const TOO_LARGE = `The server's list of tools is larger than what is read: its pages may have ${MOST_LIST_BYTES} bytes together.`;

const NO_LIST = 'The server answered the question for its tools with what is no list of tools.';

/** Each tool is checked by itself: what is wrong with one is no reason to refuse the others. */
const pageSchema = z.object({
  tools: z
    .union([z.array(z.unknown()), z.record(z.string(), z.unknown()).transform(namedByKeys)])
    .nullish(),
  /** A list that is the whole result. */
  content: z.array(z.unknown()).optional().catch(undefined),
  /** Some end their pages with null, or with an empty text. */
  nextCursor: z
    .union([z.string().min(1), z.number()])
    .optional()
    .catch(undefined),
});

function namedByKeys(tools: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(tools).map(([name, tool]) => (isRecord(tool) ? { name, ...tool } : tool));
}

type Page = z.output<typeof pageSchema>;

/** What a server offers, no more than may be offered; `leftOut`: what else its pages had. */
export async function listTools(
  client: Client,
  signal?: AbortSignal,
): Promise<{ readonly tools: readonly unknown[]; readonly leftOut: number }> {
  const tools: unknown[] = [];
  const seen = new Set<unknown>();
  let leftOut = 0;
  let bytesLeft = MOST_LIST_BYTES;
  let cursor: Page['nextCursor'];
  for (let at = 0; at < MOST_PAGES; at += 1) {
    const page = await readPage(client, cursor, signal).catch((error: unknown) => {
      // Of the pages before it the tools are there; a server that declares none need not have a list.
      const isNone = at > 0 || !client.getServerCapabilities()?.tools;
      if (isNone && error instanceof ProtocolError) return undefined;
      throw error;
    });
    const listed = page?.tools ?? page?.content ?? [];
    bytesLeft -= estimateJsonBytes(listed, bytesLeft);
    if (bytesLeft < 0) throw new Error(TOO_LARGE);
    const names = listed.map((tool) => foreignNameOf(tool) ?? tool);
    // A server that ignores the cursor gives the same page again and again.
    if (at > 0 && names.every((name) => seen.has(name))) break;
    for (const name of names) seen.add(name);
    const room = MOST_TOOLS - tools.length;
    tools.push(...listed.slice(0, room));
    leftOut += Math.max(0, listed.length - room);
    cursor = page?.nextCursor;
    if (cursor === undefined || leftOut > 0) break;
  }
  return { tools, leftOut };
}

async function readPage(
  client: Client,
  cursor: Page['nextCursor'],
  signal: AbortSignal | undefined,
): Promise<Page> {
  const request = { method: 'tools/list', params: given({ cursor }) };
  const result = await ask(client, request, { timeout: PAGE_MS, ...given({ signal }) });
  const page = pageSchema.safeParse(result);
  if (!page.success) throw new Error(NO_LIST);
  return page.data;
}
