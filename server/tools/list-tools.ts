import { toModelName } from '#lib/protocol/tool-name';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { AvailabilityOf, ClientTool, ServerToolEntry } from './tool-registry.ts';

export function toServerListing({ tool, schema }: ServerToolEntry): ToolListing {
  const reads = tool.effect === 'read';
  return {
    name: tool.name,
    model_name: toModelName(tool.name),
    source: 'server',
    description: tool.description,
    schema,
    timeout_ms: tool.timeoutMs,
    display_name: tool.displayName,
    annotations: { readOnlyHint: reads, idempotentHint: reads },
    clients: [],
    callable: true,
  };
}

/**
 * A pool as one tool: described by the client that would be asked first, and
 * served by those that have its schema. Others of the name are reached by
 * `name@client` alone. `shown` are the first of the `size` that offer it.
 */
export function toPoolListing(
  shown: readonly ClientTool[],
  size: number,
  availability: AvailabilityOf,
): ToolListing | undefined {
  const [best] = shown;
  if (!best) return undefined;
  const isOfPool = ({ schemaHash }: ClientTool) => schemaHash === best.schemaHash;
  const others = shown.filter((tool) => !isOfPool(tool));
  return {
    name: best.name,
    model_name: toModelName(best.name),
    source: 'client',
    description: best.description,
    schema: best.schema,
    timeout_ms: best.timeoutMs,
    ...(best.displayName === undefined ? {} : { display_name: best.displayName }),
    annotations: best.annotations,
    clients: shown.filter(isOfPool).map(({ clientId, instanceId }) => {
      const { name, visible, responsive, openCircuit } = availability(instanceId, best.name);
      return {
        client_id: clientId,
        name,
        visible,
        responsive,
        ...(openCircuit
          ? { tripped: { until: openCircuit.until / 1000, failures: openCircuit.failures } }
          : {}),
      };
    }),
    ...(size > shown.length ? { clients_left_out: size - shown.length } : {}),
    ...(others.length === 0 ? {} : { others: others.map((tool) => toOther(tool, availability)) }),
    callable: true,
  };
}

const toOther = ({ clientId, instanceId, name }: ClientTool, availability: AvailabilityOf) => ({
  client_id: clientId,
  name: availability(instanceId, name).name,
});
