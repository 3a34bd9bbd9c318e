import { toModelName } from '#lib/protocol/tool-name';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { given } from '#lib/util/given';
import type { AnyTool, AvailabilityOf, ClientTool, InsideTool } from './tool-provider.ts';

const toDescribed = ({ name, origin, description, schema, timeoutMs, ...more }: AnyTool) => ({
  name,
  model_name: toModelName(name),
  source: origin.source,
  ...given({ trusted: origin.trusted }),
  description,
  schema,
  timeout_ms: timeoutMs,
  ...given({ display_name: more.displayName, unchecked: more.unchecked && [...more.unchecked] }),
});

export function toInsideListing(tool: InsideTool): ToolListing {
  const { annotations, unavailable: reason } = tool;
  return {
    ...toDescribed(tool),
    // A tool that only reads may be repeated.
    annotations: { idempotentHint: annotations.readOnlyHint, ...annotations },
    clients: [],
    callable: reason === undefined,
    ...given({ reason }),
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
    ...toDescribed(best),
    annotations: best.annotations,
    clients: shown.filter(isOfPool).map(({ clientId, instanceId }) => {
      const { name, visible, responsive, openCircuit } = availability(instanceId, best.name);
      const { until = 0, failures = 0 } = openCircuit ?? {};
      const tripped = openCircuit && { until: until / 1000, failures };
      return { client_id: clientId, name, visible, responsive, ...given({ tripped }) };
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
