import type { ClientListing, WatchEvent, WatchEventBody } from '#lib/protocol/watch-messages';
import { FIRST_OPERATOR } from '../auth/room.ts';
import { type EventBus, type LoggedEvent, loggedEvent, numbered } from '../events/room.ts';
import type { ToolRegistry } from '../tools/room.ts';
import { boundClients, boundTools, MOST_CLIENTS_OF_TOOL } from './fit-into-room.ts';

export interface WholeListsDeps {
  readonly bus: Pick<EventBus, 'seq'>;
  readonly registry: Pick<ToolRegistry, 'list'>;
  clients(): ClientListing[];
  /** Publishes what has changed of the lists. */
  publishNow(): void;
}

export type WholeLists = ReturnType<typeof createWholeLists>;

/** One moment has two, and two more for each snapshot that was taken in it. */
const MANY_CHANGES = 8;

const LIST_OF = { tools_changed: 'tools', clients_changed: 'clients' } as const;
type ListName = 'tools' | 'clients';

/** Tools and clients as whole lists (rules WA12 and WA13), made once for all that want them in one moment. */
export function createWholeLists(deps: WholeListsDeps) {
  const made = new Map<string, LoggedEvent>();
  let madeAt = -1;

  function whole(name: ListName, seq: number): LoggedEvent {
    deps.publishNow();
    if (madeAt !== deps.bus.seq) made.clear();
    madeAt = deps.bus.seq;
    const key = `${name} ${seq}`;
    const before = made.get(key);
    if (before) return before;
    const body = name === 'tools' ? toolsEvent(deps.registry) : clientsEvent(deps.clients());
    const event = loggedEvent(numbered(body, seq));
    made.set(key, event);
    return event;
  }

  const areMany = (events: readonly LoggedEvent[]): boolean =>
    events.filter(({ event }) => listOf(event)).length > MANY_CHANGES;

  return {
    /** Tells whether they are many: then a snapshot takes less than the lists would. */
    areMany,
    /**
     * The same events, for who gets no changes: each change of a list is the whole
     * list, so that no number is missing. Where they are many, the last of each list
     * alone is there.
     */
    inPlaceOfChanges(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
      const last = new Map<ListName, number>();
      for (const { event } of events) {
        const name = listOf(event);
        if (name) last.set(name, event.seq);
      }
      if (last.size === 0) return events;
      const isLastOnly = areMany(events);
      return events.flatMap((entry) => {
        const name = listOf(entry.event);
        if (!name) return [entry];
        const { seq } = entry.event;
        return isLastOnly && last.get(name) !== seq ? [] : [whole(name, seq)];
      });
    },
  };
}

/** The list that a change is of. */
const listOf = ({ type }: WatchEvent): ListName | undefined =>
  type === 'tools_changed' || type === 'clients_changed' ? LIST_OF[type] : undefined;

export function toolsEvent(registry: Pick<ToolRegistry, 'list'>): WatchEventBody {
  const list = registry.list(FIRST_OPERATOR, null, MOST_CLIENTS_OF_TOOL);
  const { shown, leftOut } = boundTools(list);
  return { type: 'tools', tools: shown.map(({ value }) => value), ...more(leftOut) };
}

export function clientsEvent(clients: readonly ClientListing[]): WatchEventBody {
  const { shown, leftOut } = boundClients(clients);
  return { type: 'clients', clients: shown.map(({ value }) => value), ...more(leftOut) };
}

const more = (leftOut: number) => (leftOut > 0 ? { left_out: leftOut } : {});
