import { hash } from 'node:crypto';
import type { JSONSchema7 } from '@ai-sdk/provider';
import { isRecord } from '#lib/json/is-record';
import { ALL_CLIENTS, isAllClients, toModelName } from '#lib/protocol/tool-name';
import { isOfClient } from '#lib/protocol/tool-source';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { given } from '#lib/util/given';
import type { ToolRegistry } from '../../tools/room.ts';
/** The arguments of a model say who runs the call. */
export type TakenClient =
  | { readonly ok: true; readonly args: unknown; readonly clientId?: string }
  | { readonly ok: false; readonly message: string };

/** The argument by which a model says which client of a pool runs a call (AL161 to AL164). */
export interface ClientArgument {
  readonly name: string;
  /** `all` among them. */
  readonly words: readonly string[];
  /** How the client is named now; undefined where it is not. */
  handleOf(clientId: string): string | undefined;
  /** Takes it out of what the model wrote. */
  take(input: unknown): TakenClient;
}

const NAMES = ['client', 'callboard_client'] as const;

/** Undefined for a tool that fewer than two clients offer, and for one that has both names itself. */
export function clientArgumentOf(
  listing: Pick<ToolListing, 'source' | 'clients' | 'schema'>,
  form: JSONSchema7,
): ClientArgument | undefined {
  const { source, clients } = listing;
  const named = isOfClient({ source }) ? nameClients(clients) : [];
  if (named.length < 2) return undefined;
  const own = new Set([...keysOf(listing.schema.properties), ...keysOf(form.properties)]);
  const name = NAMES.find((one) => !own.has(one));
  if (name === undefined) return undefined;
  return {
    name,
    words: [...named.map(({ handle }) => handle), ALL_CLIENTS],
    handleOf: (clientId) => named.find((one) => one.clientId === clientId)?.handle,
    take: (input) => take(name, { clients, named }, input),
  };
}

const keysOf = (value: unknown): readonly string[] => (isRecord(value) ? Object.keys(value) : []);

interface There {
  readonly clients: ToolListing['clients'];
  readonly named: readonly NamedClient[];
}

function take(name: string, { clients, named }: There, input: unknown): TakenClient {
  if (!isRecord(input) || !Object.hasOwn(input, name)) return { ok: true, args: input };
  const { [name]: word, ...args } = input;
  // The strict form has null for what is left out.
  if (word === null || word === '') return { ok: true, args };
  if (typeof word === 'string') {
    if (isAllClients(word)) return { ok: true, args, clientId: ALL_CLIENTS };
    const clientId = findClient(clients, word);
    if (clientId !== undefined) return { ok: true, args, clientId };
  }
  const written = JSON.stringify(word).slice(0, 100).toWellFormed();
  const handles = named.map(({ handle }) => handle).join(', ');
  const message = `${name} is ${written}, which is not there now, so nothing was run. There are: ${handles}; "${ALL_CLIENTS}" asks each of them; without ${name} the one that the person uses is asked.`;
  return { ok: false, message };
}

/** The form of a tool's schema with the argument, which may be left out. */
export function withClientArgument(
  form: JSONSchema7,
  { name, words }: ClientArgument,
  isStrict: boolean,
): JSONSchema7 {
  const description = `Which client runs it: one of those that are there now, or "${ALL_CLIENTS}" to ask each of them and get all their results. Leave it out to ask the one that the person uses.`;
  const property: JSONSchema7 = isStrict
    ? { type: ['string', 'null'], enum: [...words, null], description }
    : { type: 'string', enum: [...words], description };
  return {
    ...form,
    properties: { ...form.properties, [name]: property },
    ...(isStrict && { required: [...(form.required ?? []), name] }),
  };
}

/** Clients of one tool that a model can name. */
const MOST_NAMED = 16;
const LONGEST_HANDLE = 32;

/** A client as a model names it. */
interface NamedClient {
  readonly handle: string;
  readonly clientId: string;
}

type Listed = Pick<ToolListing['clients'][number], 'client_id' | 'name'>;

/** A handle keeps letters, digits and `-` of a name, so that it is no sentence to a model. */
export const handleOfName = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, LONGEST_HANDLE)
    .replaceAll(/^-+|-+$/g, '')
    .toWellFormed() || 'client';

/** A client whose name another one has, too, keeps this handle as others come and go. */
const handleWithId = ({ client_id, name }: Listed): string =>
  `${handleOfName(name)}-${hash('sha256', client_id).slice(0, 6)}`;

/**
 * The first of the clients, each once, by their handles (AL161): the name, and a part that is of
 * its id alone where several have one name, or it is the word for all.
 */
export function nameClients(clients: readonly Listed[]): NamedClient[] {
  const first = new Map<string, Listed>();
  for (const one of clients) {
    if (first.size === MOST_NAMED) break;
    if (!first.has(one.client_id)) first.set(one.client_id, one);
  }
  const listed = [...first.values()];
  const counts = Map.groupBy(listed, ({ name }) => handleOfName(name));
  return listed
    .map((one) => {
      const plain = handleOfName(one.name);
      const isOwn = plain !== ALL_CLIENTS && counts.get(plain)?.length === 1;
      return { handle: isOwn ? plain : handleWithId(one), clientId: one.client_id };
    })
    .toSorted((a, b) => (a.handle < b.handle ? -1 : 1));
}

/**
 * The client that a model means by a word: its handle, in whatever case, its id, its name, or a
 * handle that it had while another of its name was there. Undefined where none, or several, fit.
 */
export function findClient(clients: readonly Listed[], word: string): string | undefined {
  const exact = nameClients(clients).find(({ handle }) => handle === word.toLowerCase());
  if (exact) return exact.clientId;
  const plain = handleOfName(word);
  const fits = clients.filter(
    (one) =>
      one.client_id === word || handleOfName(one.name) === plain || handleWithId(one) === word,
  );
  const ids = new Set(fits.map(({ client_id }) => client_id));
  const [only, ...more] = ids;
  return more.length === 0 ? only : undefined;
}

/** A name has so many, and all names together; further ones are reached by programs alone, as `name@client`. */
const MOST_OF_NAME = 8;
const MOST_VARIANTS = 32;
const LONGEST_NAME = 64;

/**
 * Tools of clients that offer a name with another schema than the pool has, each as a tool of its
 * own (AL165): `name@client`, spelled with the client's handle.
 */
export function listVariants(
  listings: readonly ToolListing[],
  registry: Pick<ToolRegistry, 'find'>,
): ToolListing[] {
  return listings.flatMap((one) => variantsOf(one, registry)).slice(0, MOST_VARIANTS);
}

function variantsOf(pool: ToolListing, registry: Pick<ToolRegistry, 'find'>): ToolListing[] {
  const { others = [] } = pool;
  if (!isOfClient(pool) || others.length === 0) return [];
  const clients = others.slice(0, MOST_OF_NAME);
  return nameClients(clients).flatMap(({ handle, clientId }) => {
    const name = `${pool.name}@${clientId}`;
    const tool = registry.find(name)?.best;
    const client = clients.find(({ client_id }) => client_id === clientId);
    if (!tool || tool.clientId === null || !client) return [];
    const { description, schema, timeoutMs: timeout_ms, annotations, displayName } = tool;
    return {
      name,
      model_name: spelled(pool.name, handle),
      source: pool.source,
      schema,
      timeout_ms,
      annotations,
      description: `${description}\n(On ${handle} alone: it takes other arguments there than at the other clients.)`,
      ...given({ display_name: displayName, reason: pool.reason }),
      clients: [{ ...client, visible: true }],
      callable: pool.callable,
    };
  });
}

/** `[A-Za-z0-9_-]{1,64}`, with the handle whole; what it loses of other scripts a hash stands for. */
function spelled(name: string, handle: string): string {
  const ascii = handle.replaceAll(/[^a-z0-9-]+/g, '');
  const end = ascii === handle ? handle : `${ascii}${hash('sha256', handle).slice(0, 6)}`;
  return `${toModelName(name).slice(0, LONGEST_NAME - end.length - 2)}__${end}`;
}
