import { hash } from 'node:crypto';
import { ALL_CLIENTS } from '#lib/protocol/tool-name';
import type { ToolListing } from '#lib/protocol/tool-spec';

/** Clients of one tool that a model can name. */
const MOST_NAMED = 16;
const LONGEST_HANDLE = 32;

/** A client as a model names it. */
export interface NamedClient {
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
