import type { Breaker } from '../../calls/breaker.ts';
import type { AnyServerTool } from '../../tools/define-tool.ts';
import { OwnTools } from '../../tools/own-tools.ts';
import type { ToolProvider } from '../../tools/tool-provider.ts';
import { ToolRegistry } from '../../tools/tool-registry.ts';
import { createClientTable } from '../client-table.ts';
import { listClients } from '../open-clients.ts';

type CircuitsOf = Pick<Breaker, 'openCircuitOf' | 'openCircuitsOf'>;

/** Who is connected and which tools each offers, joined as `create-core.ts` joins them. */
export function createPool({
  now,
  serverTools = [],
  providers = [],
  breaker = NO_CIRCUITS,
}: {
  now(): number;
  serverTools?: readonly AnyServerTool[];
  providers?: readonly ToolProvider[];
  breaker?: CircuitsOf;
}) {
  const instances = createClientTable(now);
  const registry = new ToolRegistry({
    providers: [new OwnTools(serverTools), ...providers],
    availability: instances.availability,
    openCircuitOf: breaker.openCircuitOf,
  });
  const table = listClients({ table: instances, registry, breaker, devices: NO_DEVICES });
  return { registry, table };
}

const NO_CIRCUITS: CircuitsOf = { openCircuitOf: () => undefined, openCircuitsOf: () => [] };
const NO_DEVICES = { ofClient: () => undefined, seen() {}, onChange: () => () => {} };
