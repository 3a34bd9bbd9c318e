import type { ClientListing } from '#lib/protocol/watch-messages';
import type { Clock } from '../clock.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { boundClients, boundTools } from './bound-listings.ts';
import type { EventBus } from './event-bus.ts';

/** Two hundred tabs that connect at once shall not send two hundred lists of ten thousand tools. */
const GATHER_MS = 50;

/** Tells watchers which tools and clients there are now, at most once in a while. */
export function publishListings(deps: {
  bus: Pick<EventBus, 'publish'>;
  clock: Clock;
  registry: Pick<ToolRegistry, 'list' | 'onChange'>;
  clients: { listings(): ClientListing[]; onChange(listener: () => void): void };
  /** Of what else the lists say: which clients are passed over for a while. */
  breaker: { onChange(listener: () => void): void };
}): () => void {
  let undo: (() => void) | undefined;
  const toolsChanged = () => {
    tools = true;
    // A client's row says which tools it has.
    gather();
  };
  let tools = false;

  function gather(): void {
    undo ??= deps.clock.schedule(GATHER_MS, () => {
      undo = undefined;
      if (tools) {
        const list = deps.registry.list({ kind: 'operator', sessionId: null });
        const { shown, leftOut } = boundTools(list);
        deps.bus.publish({ type: 'tools', tools: values(shown), ...more(leftOut) });
      }
      tools = false;
      const { shown, leftOut } = boundClients(deps.clients.listings());
      deps.bus.publish({ type: 'clients', clients: values(shown), ...more(leftOut) });
    });
  }

  const stopTools = deps.registry.onChange(toolsChanged);
  // Whether a client is visible decides who is asked first, and the list of tools says so.
  deps.clients.onChange(toolsChanged);
  deps.breaker.onChange(toolsChanged);
  return () => {
    stopTools();
    undo?.();
  };
}

const values = <T>(shown: readonly { readonly value: T }[]): T[] => shown.map(({ value }) => value);

const more = (leftOut: number) => (leftOut > 0 ? { left_out: leftOut } : {});
