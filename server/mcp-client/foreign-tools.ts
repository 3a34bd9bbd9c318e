import { hash } from 'node:crypto';
import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { estimateJsonBytes } from '#lib/json/measure-json';
import { isToolName, LONGEST_TOOL_NAME, spellingOf } from '#lib/protocol/tool-name';
import { given } from '#lib/util/given';
import type { McpServerSettings } from './mcp-servers-config.ts';
import { ask } from './task-messages.ts';

/** So many hex digits of the SHA-256 are in a name. */
const HASH_CHARS = 8;

/** The tools of one server are named within these bounds. */
interface Naming {
  readonly id: string;
  /** The names that were given, by the server's names. */
  readonly known: ReadonlyMap<string, string>;
  /** Tells that models could take the name for a tool of others. */
  isReserved(name: string): boolean;
}

/**
 * Names each of a server's tools `<id>.<tool>`, in the order of the list. A name that was given stays,
 * since people decided on the tool by it; what is no name, or of two with one spelling the later one,
 * has a hash.
 */
export function namesOf(all: readonly string[], { id, known, isReserved }: Naming): string[] {
  const taken = new Set([...known.values()].map(spellingOf));
  return all.map((foreign) => {
    const before = known.get(foreign);
    if (before !== undefined) return before;
    const plain = `${id}.${foreign}`;
    const first = isToolName(plain) ? plain : hashedName(id, foreign);
    const isTaken = taken.has(spellingOf(first)) || isReserved(first);
    const name = isTaken ? hashedName(id, foreign) : first;
    taken.add(spellingOf(name));
    return name;
  });
}

/** A name that no other tool of the server has. */
function hashedName(id: string, foreign: string): string {
  const end = `-${hash('sha256', foreign, 'hex').slice(0, HASH_CHARS)}`;
  const cleaned = foreign.replace(/[^A-Za-z0-9_.-]/g, '_');
  return `${id}.${cleaned.slice(0, LONGEST_TOOL_NAME - id.length - 1 - end.length)}${end}`;
}

/** Models and people read so much of a tool at most: the beginning of a longer description. */
const DESCRIPTION_CHARS = 1_024;
const TITLE_CHARS = 128;
export const LONGEST_FOREIGN_NAME = 256;
export const MOST_TOOLS = 500;

const namedSchema = z.object({ name: z.string().min(1).max(LONGEST_FOREIGN_NAME) });

/** Each part by itself: what is wrong with one is no reason not to read the others. */
const partsSchema = z.object({
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown().optional(),
  // Others spell it so.
  input_schema: z.unknown().optional(),
  parameters: z.unknown().optional(),
  annotations: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** The name that a server gives a tool; undefined where that is none. */
export const foreignNameOf = (tool: unknown): string | undefined =>
  namedSchema.safeParse(tool).data?.name;

/** A tool of a server as a client of ours would register it, to be checked as such. */
export function toSpec(
  tool: unknown,
  { foreign, name }: { readonly foreign: string; readonly name: string },
  { trust }: Pick<McpServerSettings, 'trust'>,
): object {
  const { title, description, annotations = {}, ...parts } = partsSchema.parse(tool);
  const schema = parts.inputSchema ?? parts.input_schema ?? parts.parameters ?? {};
  const hints = HINTS.map((hint) => [hint, annotations[hint]] as const);
  const believed = hints.filter(([, hint]) => trust && typeof hint === 'boolean');
  const shown = title?.trim() ? title : undefined;
  return {
    name,
    description: (description?.trim() ? description : (shown ?? foreign)).slice(
      0,
      DESCRIPTION_CHARS,
    ),
    parameters: isRecord(schema) ? { type: 'object', ...schema } : schema,
    ...given({ display_name: shown?.slice(0, TITLE_CHARS) }),
    ...(believed.length > 0 && { annotations: Object.fromEntries(believed) }),
  };
}

const MOST_PAGES = 50;
const PAGE_MS = 30_000;
/** All pages together have so much, as one message has: 50 whole ones would fill the memory. */
const MOST_LIST_BYTES = 12 * 1024 * 1024;

const TOO_LARGE = `The server's list of tools is larger than what is read: its pages may have ${MOST_LIST_BYTES} bytes together.`;

const NO_LIST = 'The server answered the question for its tools with what is no list of tools.';

/** Each tool is checked by itself: what is wrong with one is no reason to refuse the others. */
const pageSchema = z.object({
  tools: z.array(z.unknown()).nullish(),
  /** Some end their pages with null, or with an empty text. */
  nextCursor: z.string().min(1).optional().catch(undefined),
});

type Page = z.output<typeof pageSchema>;

/** Reads what a server offers, no more than may be offered; `leftOut` counts what else its pages had. */
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
      // The tools of the pages before it are there; a server that declares none need not have a list.
      const isNone = at > 0 || !client.getServerCapabilities()?.tools;
      if (isNone && error instanceof ProtocolError) return undefined;
      throw error;
    });
    const listed = page?.tools ?? [];
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
