import { hash } from 'node:crypto';
import type { JSONSchema7 } from '@ai-sdk/provider';
import { isRecord } from '#lib/json/is-record';
import { ALL_CLIENTS, isAllClients } from '#lib/protocol/tool-name';
import { isOfClient } from '#lib/protocol/tool-source';
import type { ToolListing } from '#lib/protocol/tool-spec';

/** What a model's arguments say of who runs the call. */
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

/** What is left of a name: letters, digits and `-`, so that it is no sentence to a model. */
export const handleOfName = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, LONGEST_HANDLE)
    .replaceAll(/^-+|-+$/g, '')
    .toWellFormed() || 'client';

/** Of a client whose name another one has, too: it stays the same as others come and go. */
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
