import type { ToolListing } from '#lib/protocol/tool-spec';

/**
 * Tools in one request to OpenAI ("A max of 128 functions are supported", API
 * reference, `tools`); one more answers HTTP 400 `array_above_max_length`.
 */
export const MOST_TOOLS = 128;

export interface ToolChoiceOptions {
  /** How many the model takes; null for any number. */
  readonly most: number | null;
  /** The person's last message. */
  readonly text: string;
  /** Names of the tools that this run has called. */
  readonly recent: readonly string[];
  /** The client whose person wrote the message, where that is known. */
  readonly clientId: string | null;
}

export interface ChosenTools {
  readonly offered: readonly ToolListing[];
  readonly leftOut: number;
}

/**
 * The tools that a model is offered when it takes fewer than there are (AL103):
 * those that the message names, the server's, those of the client whose person
 * wrote it, those that the run has called, those of visible clients, the rest.
 * Within each of these the clients take turns, so that one with many tools
 * leaves room for one with few. The same tools and wishes give the same choice.
 */
export function chooseTools(
  listings: readonly ToolListing[],
  options: ToolChoiceOptions,
): ChosenTools {
  const { most } = options;
  if (most === null || listings.length <= most) return { offered: listings, leftOut: 0 };
  const rankOf = createRanking(options);
  const turns = new Map<string, number>();
  const placed = listings.toSorted(byName).map((listing) => {
    const rank = rankOf(listing);
    const queue = `${rank} ${listing.clients[0]?.client_id ?? ''}`;
    const turn = turns.get(queue) ?? 0;
    turns.set(queue, turn + 1);
    return { listing, rank, turn };
  });
  // Stable, so that names decide between equals.
  const sorted = placed.toSorted((a, b) => a.rank - b.rank || a.turn - b.turn);
  const offered = sorted.slice(0, most).map(({ listing }) => listing);
  return { offered, leftOut: listings.length - most };
}

const byName = (a: ToolListing, b: ToolListing): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

function createRanking({
  text,
  recent,
  clientId,
}: ToolChoiceOptions): (listing: ToolListing) => number {
  const input = plain(text);
  const used = new Set(recent);
  const isNamed = ({ name, model_name, display_name }: ToolListing) =>
    [name, model_name, display_name ?? ''].some((one) => isWithin(input, plain(one)));
  return (listing) => {
    if (isNamed(listing)) return 0;
    if (listing.source === 'server') return 1;
    if (listing.clients.some(({ client_id }) => client_id === clientId)) return 2;
    if (used.has(listing.name)) return 3;
    if (listing.clients.some(({ visible, responsive }) => visible && responsive !== false))
      return 4;
    return listing.clients.some(({ responsive }) => responsive !== false) ? 5 : 6;
  };
}

const plain = (text: string): string => text.toLowerCase().replaceAll('.', '_');

/** As a word of its own: ASCII names need no blank next to Chinese. */
function isWithin(text: string, name: string): boolean {
  if (name === '') return false;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isOpen = !/[a-z0-9_]/.test(text[at - 1] ?? '');
    if (isOpen && !/[a-z0-9]/.test(text[at + name.length] ?? '')) return true;
  }
  return false;
}
