import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { SEARCH_TOOLS } from '#lib/protocol/run-tools';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { stripInvisible } from '#lib/text/invisible';
import { defineTool, refusal, type ToolRegistry } from '../../tools/room.ts';
import type { RunService } from '../agent-runs.ts';

export interface SearchToolsDeps {
  readonly runs: Pick<RunService, 'tools'>;
  readonly registry: Pick<ToolRegistry, 'list'>;
}

const TIMEOUT_MS = 10_000;
const MOST_FOUND = 20;
const MOST_TERMS = 24;
/** A description has no more characters. */
const SHORT_CHARS = 240;

/** `tools.search`: finds tools that the model is not sent for want of room (rules RT5 to RT7). */
export const createSearchTools = ({ runs, registry }: SearchToolsDeps) =>
  defineTool({
    name: SEARCH_TOOLS,
    displayName: 'Search tools',
    description:
      'Finds tools that are there and are not offered to you for want of room, by words of their names, descriptions and parameters. Those that are found are offered from your next step on. Returns {tools: [{name, source, description}], matches}, the best first.',
    args: z.object({
      query: z.string().min(1).max(300).describe('What the tool should do, in a few words'),
      limit: z.number().int().min(1).max(MOST_FOUND).optional().describe('Default 8'),
    }),
    effect: 'read',
    timeoutMs: TIMEOUT_MS,
    async run({ query, limit = 8 }, { runId, principal, status }) {
      status({ tip: `Searching for ${query.slice(0, 100)}` });
      const states = await runs.tools(runId);
      if (!states) throw refusal('There is no such run.');
      // A tool that the run may not call is not even named.
      const may = new Set(
        states.flatMap(({ name, offer }) =>
          offer === 'offered' || offer === 'over_limit' ? [name] : [],
        ),
      );
      const found = rank(
        registry.list(principal).filter(({ name }) => may.has(name)),
        query,
      );
      const tools = found.slice(0, limit).map((listing) => ({
        name: listing.name,
        source: listing.source,
        description: shortOf(listing),
      }));
      return { output: { tools, matches: found.length } };
    },
  });

function shortOf({ description }: ToolListing): string {
  const text = stripInvisible(description).replaceAll(/\s+/g, ' ').trim();
  const chars = Array.from(text);
  return chars.length <= SHORT_CHARS ? text : `${chars.slice(0, SHORT_CHARS).join('')}…`;
}

/** Gives the tools that have a term of the query, the best first, by name between equals. */
function rank(listings: readonly ToolListing[], query: string): ToolListing[] {
  const terms = termsOf(query);
  return listings
    .map((listing) => ({ listing, score: scoreOf(listing, terms) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.listing.name < b.listing.name ? -1 : 1))
    .map(({ listing }) => listing);
}

function scoreOf(listing: ToolListing, terms: readonly string[]): number {
  const name = plain(`${listing.name} ${listing.display_name ?? ''}`);
  const inName = new Set(name.split(/[^\p{L}\p{N}]+/u));
  const { properties } = listing.schema;
  const parameters = plain(isRecord(properties) ? Object.keys(properties).join(' ') : '');
  const description = plain(listing.description);
  let score = 0;
  for (const term of terms) {
    if (inName.has(term)) score += 6;
    else if (name.includes(term)) score += 4;
    if (parameters.includes(term)) score += 2;
    if (description.includes(term)) score += 1;
  }
  return score;
}

const plain = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Words, and of scripts without blanks between words each two characters. */
function termsOf(query: string): string[] {
  const words = plain(query).match(/\p{sc=Han}+|[^\P{L}\p{sc=Han}]+|\p{N}+/gu) ?? [];
  const terms = words.flatMap((word) => {
    const chars = Array.from(word);
    if (!/\p{sc=Han}/u.test(word) || chars.length < 3) return [word];
    return chars.slice(1).map((char, at) => `${chars[at]}${char}`);
  });
  return [...new Set(terms)].slice(0, MOST_TERMS);
}
