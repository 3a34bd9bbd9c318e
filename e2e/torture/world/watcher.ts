import {
  type ClientListing,
  type WatchEvent,
  watchServerMessageSchema,
} from '#lib/protocol/watch-messages';
import type { Address } from '../../start-callboard.ts';
import type { Bad } from '../scenario.ts';
import { openLastingSocket } from './lasting-socket.ts';

/** The list of clients showed this of one at a moment; undefined when it was in no list. */
export interface Sighting {
  readonly at: number;
  readonly listing: ClientListing | undefined;
}

/** Someone who looks at `/ws/watch` all the time, and comes back with the last number. */
export interface Watcher {
  /** Calls that it was shown, with the last card status of each. */
  readonly shown: ReadonlyMap<string, string>;
  /** Ids of calls as they are told first. */
  onNewCall: (id: string) => void;
  /** The client of this name, as it is listed; without a connection none is seen. */
  now(name: string): ClientListing | undefined;
  /** Each change of what was shown of it, in order, in milliseconds of `performance.now()`. */
  sightings(name: string): readonly Sighting[];
  stop(): void;
}

export function watch(server: Address, bad: Bad): Watcher {
  const shown = new Map<string, string>();
  const seen = new Map<string, Sighting[]>();
  let since: number | undefined;

  function take(told: unknown): void {
    const parsed = watchServerMessageSchema.safeParse(told);
    if (!parsed.success) {
      const said = JSON.stringify(told).slice(0, 300);
      return bad('HEALTH', `watchers were told what is not of the protocol: ${said}`);
    }
    const message = parsed.data;
    if (message.type === 'error' || message.type === 'ended') return;
    if (message.type === 'snapshot') {
      since = message.seq;
      list(message.clients);
      for (const { tool_call_id: id, card } of message.calls) note(id, card.status);
      return;
    }
    // The server merges what a slow watcher missed (contract, section 8); one update alone skips nothing.
    if (message.type === 'batch') for (const event of message.events) takeEvent(event, false);
    else takeEvent(message, true);
  }

  function takeEvent(event: WatchEvent, isAlone: boolean): void {
    if (isAlone && since !== undefined && event.seq !== since + 1)
      bad('I9', `event ${event.seq} came after ${since}, with no snapshot between`);
    since = event.seq;
    if (event.type === 'clients') return list(event.clients);
    if (event.type !== 'call') return;
    if (!shown.has(event.tool_call_id)) {
      if (event.update.tool_name === undefined && !event.update.late_result)
        bad('I9', `${event.tool_call_id} changed and was never introduced`);
      watcher.onNewCall(event.tool_call_id);
    }
    note(event.tool_call_id, event.update.status);
  }

  function note(id: string, status: string | undefined): void {
    const before = shown.get(id);
    if (status !== undefined && before !== undefined && isEnd(before) && before !== status)
      bad('I3', `${id} was shown as ${before} and then as ${status}`);
    shown.set(id, status ?? before ?? 'WAIT');
  }

  function list(listings: readonly ClientListing[]): void {
    const at = performance.now();
    const byName = new Map(listings.map((listing) => [listing.name, listing]));
    for (const name of new Set([...seen.keys(), ...byName.keys()])) {
      const known = seen.get(name) ?? [];
      seen.set(name, known);
      const listing = byName.get(name);
      if (JSON.stringify(known.at(-1)?.listing) !== JSON.stringify(listing))
        known.push({ at, listing });
    }
  }

  const socket = openLastingSocket(server, '/ws/watch', {
    message: take,
    open: () => ({ type: 'watch', since }),
    lost: () => list([]),
  });
  const watcher: Watcher = {
    shown,
    onNewCall: () => {},
    now: (name) => seen.get(name)?.at(-1)?.listing,
    sightings: (name) => seen.get(name) ?? [],
    stop: () => socket.stop(),
  };
  return watcher;
}

const isEnd = (status: string): boolean => status === 'SUCCESS' || status === 'ERROR';
