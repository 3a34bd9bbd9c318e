import type { JSONSchema7 } from '@ai-sdk/provider';
import { isRecord } from '#lib/json/is-record';
import { ALL_CLIENTS, isAllClients } from '#lib/protocol/tool-name';
import { isOfClient } from '#lib/protocol/tool-source';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { findClient, type NamedClient, nameClients } from './client-handles.ts';

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
