import type { Card } from '#lib/protocol/card';
import type { ToolListing } from '#lib/protocol/tool-spec';

/** A client that offers a tool and is not asked: it fell silent, or failed too often until then. */
export type BlockedClient =
  | { readonly kind: 'silent'; readonly id: string; readonly name: string }
  | {
      readonly kind: 'tripped';
      readonly id: string;
      readonly name: string;
      readonly failures: number;
      /** Unix seconds. */
      readonly until: number;
    };

type Provider = ToolListing['clients'][number];

/**
 * CD18: whom a queued call waits for in vain. Empty when one of them could be
 * asked: the call then waits for its turn.
 */
export function blockedClients(card: Card, tool: ToolListing | undefined): BlockedClient[] {
  if (card.source === 'server' || tool?.source !== 'client') return [];
  const asked = tool.clients.filter(
    ({ client_id }) => !card.client_id || client_id === card.client_id,
  );
  const blocked = asked.flatMap((client) => toBlocked(client) ?? []);
  return blocked.length === asked.length ? blocked : [];
}

function toBlocked(client: Provider): BlockedClient | null {
  const who = { id: client.client_id, name: client.name || client.client_id };
  // A silent one is not asked either when its pause is over, so that is shown first.
  if (client.responsive === false) return { kind: 'silent', ...who };
  return client.tripped ? { kind: 'tripped', ...who, ...client.tripped } : null;
}
