import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { estimateJsonBytes } from '#lib/json/measure-json';
import { MOST_TOOLS } from './offered-tools.ts';

const MOST_PAGES = 50;
const PAGE_MS = 30_000;
/** Of all pages together, as of one message: 50 whole ones would fill the memory. */
const MOST_LIST_BYTES = 12 * 1024 * 1024;

const TOO_LARGE = `The server's list of tools is larger than what is read: its pages may have ${MOST_LIST_BYTES} bytes together.`;

/** Each tool is checked by itself: what is wrong with one is no reason to refuse the others. */
const pageSchema = z.object({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
});

/** What a server offers, no more than may be offered; `leftOut`: what else its pages had. */
export async function listTools(
  client: Client,
  signal?: AbortSignal,
): Promise<{ readonly tools: readonly unknown[]; readonly leftOut: number }> {
  if (!client.getServerCapabilities()?.tools) return { tools: [], leftOut: 0 };
  const tools: unknown[] = [];
  let leftOut = 0;
  let bytesLeft = MOST_LIST_BYTES;
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const listed = await client.request({ method: 'tools/list', params }, pageSchema, {
      timeout: PAGE_MS,
      ...(signal && { signal }),
    });
    bytesLeft -= estimateJsonBytes(listed.tools, bytesLeft);
    if (bytesLeft < 0) throw new Error(TOO_LARGE);
    const room = MOST_TOOLS - tools.length;
    tools.push(...listed.tools.slice(0, room));
    leftOut += Math.max(0, listed.tools.length - room);
    cursor = listed.nextCursor;
    if (cursor === undefined || leftOut > 0) break;
  }
  return { tools, leftOut };
}
