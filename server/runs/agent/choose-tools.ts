import { RUN_TOOLS } from '#lib/protocol/run-tools';
import { isOfClient, isTrusted } from '#lib/protocol/tool-source';
import type { ToolListing } from '#lib/protocol/tool-spec';

/**
 * Tools in one request to OpenAI ("A max of 128 functions are supported", API
 * reference, `tools`); one more answers HTTP 400 `array_above_max_length`.
 */
export const MOST_TOOLS = 128;

export interface ToolChoiceOptions {
  /** How many the model takes; null for any number. */
  readonly most: number | null;
  readonly text: string;
  /** Names of the tools that this run has called or found by a search, the newest last. */
  readonly recent: readonly string[];
  readonly isPinned: (name: string) => boolean;
  /** The client whose person wrote the message, where that is known. */
  readonly clientId: string | null;
}

/**
 * The tools that a model is offered when it takes fewer than there are (AL103):
 * those about the run itself, those that the message names, pinned ones, those
 * that the run has found or called, the newest first; of both no more than half of
 * all. Then the server's, those of the client whose person wrote it, those of
 * visible clients, the rest. Within each of these the clients take turns, so that
 * one with many tools leaves room for one with few. The same tools and wishes give
 * the same choice.
 */
export function chooseTools(
  listings: readonly ToolListing[],
  options: ToolChoiceOptions,
): readonly ToolListing[] {
  const { most } = options;
  if (most === null || listings.length <= most) return listings;
  const rankOf = createRanking(options);
  const half = Math.floor(most / 2);
  const recent = new Set(options.recent.toReversed());
  const places = new Map([...recent].slice(0, half).map((name, at) => [name, at]));
  let pins = 0;
  const turns = new Map<string, number>();
  const placed = listings.toSorted(byName).map((listing) => {
    const place = places.get(listing.name);
    const rank = rankOf(listing, place !== undefined, pins < half);
    if (rank === Rank.pinned) pins += 1;
    if (rank === Rank.recent && place !== undefined) return { listing, rank, turn: place };
    const queue = `${rank} ${listing.clients[0]?.client_id ?? ''}`;
    const turn = turns.get(queue) ?? 0;
    turns.set(queue, turn + 1);
    return { listing, rank, turn };
  });
  // Stable, so that names decide between equals.
  const sorted = placed.toSorted((a, b) => a.rank - b.rank || a.turn - b.turn);
  return sorted.slice(0, most).map(({ listing }) => listing);
}

export const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

/** The lower the sooner. */
const Rank = {
  ofRun: 0,
  named: 1,
  pinned: 2,
  recent: 3,
  server: 4,
  ofWriter: 5,
  visible: 6,
  responsive: 7,
  silent: 8,
} as const;

function createRanking({ text, clientId, isPinned }: ToolChoiceOptions) {
  const input = plain(text);
  const isNamed = ({ name, model_name, display_name }: ToolListing) =>
    [name, model_name, display_name ?? ''].some((one) => isWithin(input, plain(one)));
  return (listing: ToolListing, isRecent: boolean, mayBePinned: boolean): number => {
    const { name, source, clients } = listing;
    if (source === 'server' && RUN_TOOLS.has(name)) return Rank.ofRun;
    if (isNamed(listing)) return Rank.named;
    if (mayBePinned && isPinned(name)) return Rank.pinned;
    if (isRecent) return Rank.recent;
    if (isTrusted(listing)) return Rank.server;
    if (clients.some(({ client_id }) => client_id === clientId)) return Rank.ofWriter;
    if (!isOfClient(listing)) return Rank.visible;
    const answering = clients.filter(({ responsive }) => responsive !== false);
    if (answering.length === 0) return Rank.silent;
    return answering.some(({ visible }) => visible) ? Rank.visible : Rank.responsive;
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
