import type { Card } from '#lib/protocol/card';
import type { ToolListing } from '#lib/protocol/tool-spec';

/** Why a client may not be the one to choose. */
export type ClientNote = 'ran' | 'silent' | 'paused' | 'hidden' | 'otherSchema';

/** A client that a call can be run on again. */
export interface OtherClient {
  readonly id: string;
  readonly name: string;
  readonly notes: readonly ClientNote[];
}

/** Whether a call can be run on another client: what runs inside the server cannot (CD41). */
export const hasClients = ({ source }: Card): boolean => source === 'client' || source === 'pool';

/** Who offers the tool now, each once: those with another schema last. */
export function otherClients(card: Card, tool: ToolListing | undefined): OtherClient[] {
  if (tool?.source !== 'client') return [];
  const { clients, others = [] } = tool;
  const listed = [
    ...clients.map((client) => ({ ...client, notes: notesOf(client) })),
    ...others.map((client) => ({ ...client, notes: ['otherSchema'] as const })),
  ];
  const byId = new Map<string, OtherClient>();
  for (const { client_id: id, name, notes } of listed) {
    if (byId.has(id)) continue;
    const ran: readonly ClientNote[] = id === card.client_id ? ['ran'] : [];
    byId.set(id, { id, name: name || id, notes: [...ran, ...notes] });
  }
  return [...byId.values()];
}

function notesOf(client: ToolListing['clients'][number]): readonly ClientNote[] {
  if (client.responsive === false) return ['silent'];
  if (client.tripped) return ['paused'];
  return client.visible ? [] : ['hidden'];
}
