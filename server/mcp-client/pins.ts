import { hash } from 'node:crypto';
import { z } from 'zod';
import { sameJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';
import { type DeviceTool, deviceToolSchema } from '#lib/protocol/device';
import { given } from '#lib/util/given';
import type { Clock } from '../base/clock.ts';
import { KeptArea, type Store } from '../store/room.ts';
import type { CheckedTool } from '../tools/room.ts';

const pinSchema = z.object({
  server: z.string(),
  /** The server calls it so. */
  foreign: z.string(),
  /** The tool as it was seen first, or accepted last; `hash` is of all that is shown of it. */
  tool: deviceToolSchema,
});
export type Pin = z.infer<typeof pinSchema>;

const keyOf = ({ server, foreign }: Pick<Pin, 'server' | 'foreign'>): string =>
  `${server} ${hash('sha256', foreign, 'base64url')}`;

/** The form of each tool that may be called, over restarts. Who puts them bounds how many there are. */
export class Pins {
  readonly #area: KeptArea<Pin>;

  constructor({ store, clock }: { store: Pick<Store, 'write' | 'listKept'>; clock: Clock }) {
    this.#area = new KeptArea({ store, area: 'mcp_pin', schema: pinSchema, now: clock.now });
  }

  /** By server. Those of servers that are not configured any more are forgotten. */
  async load(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly Pin[]>> {
    const all = (await this.#area.load()).map(({ value }) => value);
    const unused = all.filter(({ server }) => !ids.has(server));
    if (unused.length > 0) await this.#area.change(unused.map((pin) => ({ key: keyOf(pin) })));
    return Map.groupBy(
      all.filter(({ server }) => ids.has(server)),
      ({ server }) => server,
    );
  }

  /** Resolves when they are on disk. */
  put(pins: readonly Pin[]): Promise<void> {
    return this.#area.change(pins.map((pin) => ({ key: keyOf(pin), value: pin })));
  }
}

/** All that is shown of a tool, with its hash. How long it may run is a matter of the configuration. */
export function toPinnedTool(tool: CheckedTool): DeviceTool {
  const { name, description, schema, displayName, annotations, toolHash } = tool;
  return {
    name,
    description,
    parameters: { ...schema },
    hash: toolHash,
    ...given({ display_name: displayName }),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}

/**
 * Tells that a tool means what its pin means, so that nobody has to look at the difference: lists whose
 * order says nothing, fields that are empty, the name of the schema's dialect, and hints that grant
 * less than before (rule MC12).
 */
export const isSameTool = (now: DeviceTool, pinned: DeviceTool): boolean =>
  now.name === pinned.name &&
  now.description === pinned.description &&
  now.display_name === pinned.display_name &&
  grantsNoMore(now.annotations ?? {}, pinned.annotations ?? {}) &&
  sameJson(meaningOf(now.parameters), meaningOf(pinned.parameters));

type Hints = NonNullable<DeviceTool['annotations']>;

/** People are asked less about a tool that reads or may be repeated, destroys nothing and stays inside. */
const GRANTING = [
  ['readOnlyHint', true],
  ['idempotentHint', true],
  ['destructiveHint', false],
  ['openWorldHint', false],
] as const;

const grantsNoMore = (now: Hints, pinned: Hints): boolean =>
  GRANTING.every(([hint, granting]) => now[hint] !== granting || pinned[hint] === granting);

/** Their values are schemas by names of the server's own. */
const MAPS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
/** Their values are data. */
const DATA = new Set(['const', 'default', 'examples']);
/** The order in them says nothing. */
const SETS = new Set(['required', 'type', 'enum']);
const LEFT_OUT_WHEN_EMPTY = new Set([
  ...MAPS,
  'required',
  'examples',
  'allOf',
  'dependentRequired',
]);

function meaningOf(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(meaningOf);
  if (!isRecord(schema)) return schema;
  const fields = Object.entries(schema).filter(
    ([key, value]) => key !== '$schema' && !(LEFT_OUT_WHEN_EMPTY.has(key) && isEmpty(value)),
  );
  return Object.fromEntries(fields.map(([key, value]) => [key, meaningOfField(key, value)]));
}

function meaningOfField(key: string, value: unknown): unknown {
  if (DATA.has(key)) return value;
  if (SETS.has(key) && Array.isArray(value)) {
    return value.map((one) => JSON.stringify(one)).toSorted();
  }
  if (!MAPS.has(key) || !isRecord(value)) return meaningOf(value);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, meaningOf(one)]));
}

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
