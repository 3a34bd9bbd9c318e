import { createHash } from 'node:crypto';
import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { stripInvisible } from '#lib/text/invisible';
import { given } from '#lib/util/given';

type InputSchema = { readonly type: 'object' } & Readonly<Record<string, unknown>>;

/** Validators know these dialects by their names, and do not fetch them. */
const DIALECT = /^https?:\/\/json-schema\.org\//;

/** Keywords whose value is a schema, or a list of them. */
const SCHEMAS: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'propertyNames', 'allOf', 'anyOf', 'oneOf', 'not'],
  ...['if', 'then', 'else'],
]);
/** Keywords whose value has schemas under names of the author's. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'],
]);

/**
 * A schema that a stranger wrote, as any host can take it: an object at the root, no schema that is
 * `true` or `false` but where hosts expect that, no reference that a host would fetch, and no word
 * that puts arguments into HTTP headers (`x-mcp-header`, MCP 2026-07-28). The schema itself is
 * checked here when a call comes.
 */
const portableSchema = (schema: Readonly<Record<string, unknown>>): InputSchema => ({
  ...cleanMembers(schema),
  type: 'object',
});

function cleanSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleanSchema);
  return isRecord(value) ? cleanMembers(value) : toObject(value);
}

const cleanMembers = (schema: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => isPortable(key, value))
      .map(([key, value]) => [key, cleanMember(key, value)]),
  );

function cleanMember(key: string, value: unknown): unknown {
  if (NAMED_SCHEMAS.has(key) && isRecord(value)) {
    const named = Object.entries(value);
    return Object.fromEntries(named.map(([name, one]) => [name, cleanSchema(one)]));
  }
  const isSchema = SCHEMAS.has(key) || (key === 'additionalProperties' && isRecord(value));
  return isSchema ? cleanSchema(value) : cleanValue(value);
}

/** Cleans a value that is no schema, or is one only for a reference to it. */
function cleanValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleanValue);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([key, one]) => isPortable(key, one));
  return Object.fromEntries(members.map(([key, one]) => [key, cleanValue(one)]));
}

function toObject(schema: unknown): unknown {
  if (typeof schema !== 'boolean') return schema;
  return schema ? {} : { not: {} };
}

function isPortable(key: string, value: unknown): boolean {
  if (key === 'x-mcp-header') return false;
  // A property may have such a name: then its value is a schema.
  if (typeof value !== 'string') return true;
  if (key === '$schema') return DIALECT.test(value);
  return (key !== '$ref' && key !== '$dynamicRef') || value.startsWith('#');
}

/** A tool as an MCP client is shown it, and what a call of it means here. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object' } & Readonly<Record<string, unknown>>;
  readonly annotations: ToolAnnotations;
  /** `name` or `name@client`. */
  readonly reference: string;
}

/** Gives the schema of a tool of one client, by `name@client`; undefined once it has left. */
export type SchemaOf = (reference: string) => Readonly<Record<string, unknown>> | undefined;

/** The server's own: no tool of others has its name. */
export const RESULT_TOOL = 'callboard_result';

/** Cursor hides a tool whose name has more together with its server's; others allow 64. */
export const LONGEST_NAME = 48;
/** A description has no more: a host pays for it in every request of its model. */
const DESCRIPTION_CHARS = 2_048;
const TITLE_CHARS = 128;
/** So much of its hash stands for the rest of a name that is too long. */
const HASH_CHARS = 8;

/**
 * Lists what the agent may call now, sorted by name: a pool under its plain name, and, where several
 * clients offer it, one entry for each of them (rules MP1 to MP4).
 */
export function toMcpTools(listings: readonly ToolListing[], schemaOf: SchemaOf): McpTool[] {
  const callable = listings.filter((listing) => listing.callable);
  const taken = new Set([RESULT_TOOL]);
  // A name that a pool and an entry could both have is that of neither: one would stand for the other.
  const ofPools = new Set(callable.map(({ model_name }) => model_name));
  const entries = callable.flatMap((listing) =>
    clientsOf(listing).map(({ name }) => nameWith(listing.model_name, name)),
  );
  const ofClients = new Set<string>();
  // A client gives itself its name: with that of another it would be called in its place.
  // Adds each, and keeps those that were there already.
  const shared = entries.filter((name) => ofClients.size === ofClients.add(name).size);
  const ofOthers = new Set([...ofPools, ...shared]);
  const pools = callable.map((listing) => toPoolTool(listing, { taken, others: ofClients }));
  const single = callable.flatMap((listing, at) => {
    const base = pools[at]?.name ?? listing.model_name;
    return clientsOf(listing).map((client) =>
      toClientTool(listing, client, { base, taken, others: ofOthers, schemaOf }),
    );
  });
  return [...pools, ...single].sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface Names {
  /** To which the name is added. */
  readonly taken: Set<string>;
  /** That another could have. */
  readonly others: ReadonlySet<string>;
}

function toPoolTool(listing: ToolListing, names: Names): McpTool {
  const name = free(listing.model_name, listing.name, names);
  return { ...described(listing), name, title: titleOf(listing), reference: listing.name };
}

interface NamedClient {
  readonly client_id: string;
  readonly name: string;
}

/** Where one client alone offers the tool, its plain name says all. */
function clientsOf({ clients, others = [] }: ToolListing): readonly NamedClient[] {
  const all = [...clients, ...others];
  const ids = new Map(all.map((client) => [client.client_id, client]));
  return ids.size > 1 ? [...ids.values()] : [];
}

function toClientTool(
  listing: ToolListing,
  { client_id, name: clientName }: NamedClient,
  { base, schemaOf, ...names }: Names & { base: string; schemaOf: SchemaOf },
): McpTool {
  const reference = `${listing.name}@${client_id}`;
  const name = free(nameWith(base, clientName), reference, names);
  const title = oneLine(`${titleOf(listing)} on ${clientName}`, TITLE_CHARS);
  const isOther = listing.others?.some((other) => other.client_id === client_id) ?? false;
  const schema = isOther ? (schemaOf(reference) ?? {}) : listing.schema;
  return { ...described({ ...listing, schema }), name, title, reference };
}

function described({ source, trusted, ...listing }: ToolListing) {
  const text = oneLine(listing.description, DESCRIPTION_CHARS);
  return {
    description: text === '' ? `Runs ${listing.name}.` : text,
    inputSchema: portableSchema(listing.schema),
    annotations: hintsOf(listing.annotations ?? {}, trusted ?? source === 'server'),
  };
}

/**
 * Hosts ask no person about a tool that only reads, and repeat one that is idempotent: those two
 * words count from the server's own tools alone. The others make a host more careful.
 */
function hintsOf(
  {
    readOnlyHint,
    destructiveHint,
    idempotentHint,
    openWorldHint,
  }: NonNullable<ToolListing['annotations']>,
  isTrusted: boolean,
): ToolAnnotations {
  const careful = given({ destructiveHint, openWorldHint });
  return isTrusted ? { ...careful, ...given({ readOnlyHint, idempotentHint }) } : careful;
}

const titleOf = ({ display_name, annotations, name }: ToolListing): string =>
  oneLine(display_name ?? annotations?.title ?? name, TITLE_CHARS);

const oneLine = (text: string, most: number): string =>
  Array.from(stripInvisible(text).trim()).slice(0, most).join('');

const nameWith = (base: string, clientName: string): string => `${base}-${toSuffix(clientName)}`;

const toSuffix = (clientName: string): string =>
  clientName
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 16) || 'client';

/** The wanted name where it is legal and free; else its beginning with a hash of what is meant. */
function free(wanted: string, reference: string, { taken, others }: Names): string {
  let name = wanted;
  const isFree = () => name.length <= LONGEST_NAME && !taken.has(name) && !others.has(name);
  // A client may have given its tool the very name that the hash gives another.
  for (let round = 0; !isFree(); round += 1) {
    const hash = hashOf(round === 0 ? reference : `${reference}\n${round}`);
    name = `${wanted.slice(0, LONGEST_NAME - HASH_CHARS - 1)}_${hash}`;
  }
  taken.add(name);
  return name;
}

const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS);

/** Hosts end a request after a minute. */
const LONGEST_WAIT_S = 40;

export const resultArgsSchema = z.object({
  call: z.string().max(128),
  wait_s: z.number().min(0).max(LONGEST_WAIT_S).default(LONGEST_WAIT_S),
});

/** By it a client without tasks gets the result of a call that took longer than an answer is held. */
export const resultTool: Omit<McpTool, 'reference'> = {
  name: RESULT_TOOL,
  title: 'Result of a call',
  description:
    'Gets the result of a call of yours that went on after its answer, by the id that the answer named. It waits until the call has ended, for at most wait_s seconds.',
  inputSchema: {
    type: 'object',
    properties: {
      call: { type: 'string', description: 'The id of the call: tc_ and 32 letters or digits' },
      wait_s: {
        type: 'number',
        minimum: 0,
        maximum: LONGEST_WAIT_S,
        description: `Seconds; ${LONGEST_WAIT_S} where it is not given`,
      },
    },
    required: ['call'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};
