import type { Breaker } from '../../calls/breaker.ts';
import type { AnyServerTool } from '../../tools/define-tool.ts';
import { OwnTools } from '../../tools/own-tools.ts';
import type { ToolProvider } from '../../tools/tool-provider.ts';
import { ToolRegistry } from '../../tools/tool-registry.ts';
import { ConnectedInstances, createClientTable } from '../client-table.ts';

/** Who is connected and which tools each offers, joined as `create-core.ts` joins them. */
export function createPool({
  now,
  serverTools = [],
  providers = [],
  breaker,
}: {
  now(): number;
  serverTools?: readonly AnyServerTool[];
  providers?: readonly ToolProvider[];
  breaker?: Pick<Breaker, 'openCircuitOf' | 'openCircuitsOf'>;
}) {
  const instances = new ConnectedInstances();
  const registry = new ToolRegistry({
    providers: [new OwnTools(serverTools), ...providers],
    availability: instances.availability,
    ...(breaker && { openCircuitOf: breaker.openCircuitOf }),
  });
  const table = createClientTable({
    instances,
    now,
    toolsOf: registry.namesOf,
    availabilityChanged: registry.availabilityChanged,
    ...(breaker && { openCircuitsOf: breaker.openCircuitsOf }),
  });
  return { instances, registry, table };
}
