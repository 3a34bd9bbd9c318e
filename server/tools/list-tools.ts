import { toModelName } from '#lib/protocol/tool-name';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { ClientTool, ServerToolEntry, Standing } from './tool-registry.ts';

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

/** A pool as one tool: described by the client that would be asked first. */
export function toPoolListing(
  best: ClientTool,
  candidates: readonly ClientTool[],
  standing: Standing,
): ToolListing {
  return {
    name: best.name,
    model_name: toModelName(best.name),
    source: 'client',
    description: best.description,
    schema: best.schema,
    timeout_ms: best.timeoutMs,
    ...(best.displayName === undefined ? {} : { display_name: best.displayName }),
    annotations: best.annotations,
    clients: candidates.map(({ clientId, instanceId }) => {
      const { name, visible, responsive, trip } = standing(instanceId, best.name);
      return {
        client_id: clientId,
        name,
        visible,
        responsive,
        ...(trip ? { tripped: { until: trip.until / 1000, failures: trip.failures } } : {}),
      };
    }),
    callable: true,
  };
}
