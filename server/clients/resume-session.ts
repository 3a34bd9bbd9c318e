import { hash } from 'node:crypto';
import { isPolling } from '#lib/call/call';
import type { ClientMessageOf } from '#lib/protocol/client-messages';
import { type Principal, principalKey } from '../auth/room.ts';
import type { ClientInstances } from '../calls/room.ts';
import type { Change, ClientRecord, Store } from '../store/room.ts';
import type { ClientIds } from './client-ids.ts';
import type { ClientTable, ConnectedInstance } from './client-table.ts';

export interface Identity {
  readonly clientId: string;
  readonly instanceId: string;
  readonly resumed: boolean;
  /** Good for one return; the next welcome brings another. */
  readonly resumeToken: string;
  readonly instance: ConnectedInstance;
  /** It is kept on disk; a client without a hello has none. */
  readonly client: ClientRecord | undefined;
}

export interface ResumeSessionDeps {
  readonly store: Pick<Store, 'findClient' | 'write'>;
  readonly ids: ClientIds;
  readonly table: Pick<ClientTable, 'get'>;
  /** Tells that calls wait for an instance, which may be away. */
  readonly instances: Pick<ClientInstances, 'holdsCalls'>;
  /** Instances whose session is being resumed: taken at once, and in the table only after a write. */
  readonly pendingInstances: Set<string>;
  readonly clock: { now(): number };
  /** Called when a client names an id that is taken, and is given a fresh one. */
  claimRefused?(principal: Principal, clientId: string): void;
  newId(): string;
  newSecret(): string;
  /** The token that takes the place of this one; always the same, and secret of the server. */
  secretAfter(token: string): string;
}

type Hello = ClientMessageOf<'hello'>;

/**
 * Identifies a client by its resume token, never by a name alone. A client id
 * that exists is assigned only to a client that proves it, and an instance id
 * that is connected or waited for only to the instance that proves it; without a
 * proof the client gets ids of its own. A device is always the client that it
 * was paired as. Unless this rejects, the caller takes the instance id out of `pendingInstances`.
 */
export async function resumeSession(
  deps: ResumeSessionDeps,
  principal: Principal,
  hello: Hello | undefined,
): Promise<Identity> {
  const proof = hello && (await proofOf(deps, principal, hello));
  const clientId = await clientIdFor(deps, principal, hello, proof);
  try {
    // A duplicated tab brings the token of the one it was copied from: that proves the client alone.
    const returning = proof?.isOfThisInstance ? proof : undefined;
    const before = returning?.client;
    const wanted = before?.instanceId ?? hello?.instance_id;
    const isTaken = wanted !== undefined && !before && isHeld(deps, wanted);
    const instanceId = wanted === undefined || isTaken ? deps.newId() : wanted;
    deps.pendingInstances.add(instanceId);
    const resumeToken = returning?.nextToken ?? deps.newSecret();
    const instance = toInstance(clientId, instanceId, hello, before, deps.clock.now());
    const client: ClientRecord | undefined = hello && {
      clientId,
      instanceId,
      journalEpoch: instance.journalEpoch,
      name: instance.name,
      kind: instance.kind,
      resumeTokenHash: hash('sha256', resumeToken),
      lastSeenAt: deps.clock.now(),
      owner: principalKey(principal),
    };
    // On disk before it is sent, so that the token still opens after a crash.
    if (client) {
      // guard: client-stored-at-hello
      await deps.store.write([{ type: 'put_client', client }]).catch((error) => {
        deps.pendingInstances.delete(instanceId);
        throw error;
      });
    }
    return { clientId, instanceId, resumed: before !== undefined, resumeToken, instance, client };
  } finally {
    deps.ids.release(clientId);
  }
}

/** Its own when it has proved it, the one that it names when that is free, else a new one. */
async function clientIdFor(
  deps: ResumeSessionDeps,
  principal: Principal,
  hello: Hello | undefined,
  proof: Proof | undefined,
): Promise<string> {
  const known = ownClientId(principal) ?? proof?.client.clientId;
  const named = hello?.client_id;
  if (known !== undefined || named === undefined) return known ?? deps.newId();
  if (await deps.ids.take(named)) return named;
  deps.claimRefused?.(principal, named);
  return deps.newId();
}

/** Written after a message that follows the welcome: the client has the token, the one before is void (ID3). */
// guard: client-stored-once-confirmed
export const confirmToken = ({ client, resumeToken }: Identity): Change[] =>
  client
    ? [{ type: 'put_client', client: { ...client, resumeTokenHash: confirmedHash(resumeToken) } }]
    : [];

/** Cannot be found by the token before, from which the next one follows. */
const confirmedHash = (token: string): string => hash('sha256', `heard ${token}`);

const isHeld = (deps: ResumeSessionDeps, instanceId: string): boolean =>
  isPolling({ instanceId }) ||
  deps.pendingInstances.has(instanceId) ||
  deps.table.get(instanceId) !== undefined ||
  deps.instances.holdsCalls(instanceId);

interface Proof {
  /** The instance whose token it is. */
  readonly client: ClientRecord;
  readonly nextToken: string;
  readonly isOfThisInstance: boolean;
}

async function proofOf(
  deps: ResumeSessionDeps,
  principal: Principal,
  { client_id, instance_id, resume_token }: Hello,
): Promise<Proof | undefined> {
  const clientId = ownClientId(principal) ?? client_id;
  if (clientId === undefined || resume_token === undefined) return undefined;
  // What clients have confirmed so far is on disk (ID3).
  await deps.store.write([]);
  const nextToken = deps.secretAfter(resume_token);
  const find = (tokenHash: string) => deps.store.findClient(clientId, tokenHash);
  // guard: lost-welcome-resumed
  const client =
    (await find(confirmedHash(resume_token))) ??
    (await find(hash('sha256', resume_token))) ??
    // It was assigned the next one, and its connection broke before the welcome arrived.
    (await find(hash('sha256', nextToken)));
  // A token that was stolen proves nothing for another principal.
  if (!client || (client.owner !== null && client.owner !== principalKey(principal))) return;
  const isOfThisInstance = instance_id === undefined || instance_id === client.instanceId;
  return { client, nextToken, isOfThisInstance };
}

const ownClientId = (principal: Principal): string | undefined =>
  principal.kind === 'device' ? principal.clientId : undefined;

const KNOWN_CAPS = ['claim', 'cancel', 'probe'];

function toInstance(
  clientId: string,
  instanceId: string,
  hello: Hello | undefined,
  before: ClientRecord | undefined,
  now: number,
): ConnectedInstance {
  return {
    clientId,
    instanceId,
    name: hello?.name ?? before?.name ?? clientId,
    kind: hello?.kind ?? before?.kind ?? 'program',
    caps: KNOWN_CAPS.filter((cap) => hello?.caps?.includes(cap)),
    journalEpoch: hello?.journal_epoch ?? null,
    visible: true,
    responsive: true,
    connectedAt: now,
  };
}
