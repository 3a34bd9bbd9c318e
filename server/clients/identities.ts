import { hash } from 'node:crypto';
import { isPolling } from '#lib/call/call';
import { keepNewest } from '#lib/limits/keep-newest';
import type { ClientMessageOf } from '#lib/protocol/client-messages';
import { isAllClients } from '#lib/protocol/tool-name';
import {
  type Audit,
  byCaller,
  type Caller,
  callerOf,
  type Principal,
  principalKey,
  viaOf,
} from '../auth/room.ts';
import type { Logger } from '../base/logger.ts';
import type { ClientInstances } from '../calls/room.ts';
import type { ClientRecord, Store } from '../store/room.ts';
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

export interface IdentitiesDeps {
  readonly store: Pick<Store, 'findClient' | 'clientOwner' | 'write'>;
  readonly table: Pick<ClientTable, 'get' | 'hasClient'>;
  /** Tells that calls wait for an instance, which may be away. */
  readonly instances: Pick<ClientInstances, 'holdsCalls'>;
  readonly clock: { now(): number };
  readonly audit: Pick<Audit, 'record'>;
  readonly logger: Pick<Logger, 'error'>;
  isMadeHere(clientId: string): boolean;
  newId(): string;
  newSecret(): string;
  /** The token that takes the place of this one; always the same, and secret of the server. */
  secretAfter(token: string): string;
}

type Hello = ClientMessageOf<'hello'>;

/** Of more pairs the oldest is forgotten. */
const MOST_NOTED = 1_000;

/** Who clients are: by a resume token, or, of those that poll, by the principal. */
export class Identities {
  readonly #deps: IdentitiesDeps;
  /** Client ids that newcomers are taking: the store does not have them yet. */
  readonly #beingTaken = new Set<string>();
  /** Instances whose session is being resumed: taken at once, and in the table only after a write. */
  readonly #arriving = new Set<string>();
  /** Pairs of principals that are in the audit already. */
  readonly #noted = new Set<string>();

  constructor(deps: IdentitiesDeps) {
    this.#deps = deps;
  }

  /**
   * Identifies a client by its resume token, never by a name alone. A client id
   * that exists is assigned only to a client that proves it, and an instance id
   * that is connected or waited for only to the instance that proves it; without a
   * proof the client gets ids of its own. A device is always the client that it
   * was paired as. `enter` puts it into the table: until then its ids are kept for it here.
   */
  async ofHello<T>(
    principal: Principal,
    hello: Hello | undefined,
    enter: (identity: Identity) => T,
  ): Promise<T> {
    const { store, clock, newId, newSecret } = this.#deps;
    const proof = hello && (await this.#proofOf(principal, hello));
    const clientId = await this.#clientIdFor(principal, hello, proof);
    // A duplicated tab brings the token of the one it was copied from: that proves the client alone.
    const returning = proof?.isOfThisInstance ? proof : undefined;
    const before = returning?.client;
    const wanted = before?.instanceId ?? hello?.instance_id;
    const isTaken = wanted !== undefined && !before && this.#isHeld(wanted);
    const instanceId = wanted === undefined || isTaken ? newId() : wanted;
    this.#arriving.add(instanceId);
    try {
      const resumeToken = returning?.nextToken ?? newSecret();
      const instance = toInstance(clientId, instanceId, hello, before, clock.now());
      const client = hello && recordOf(instance, hash('sha256', resumeToken), principal);
      // On disk before it is sent, so that the token still opens after a crash.
      if (client) {
        // guard: client-stored-at-hello
        await store.write([{ type: 'put_client', client }]);
      }
      const resumed = before !== undefined;
      return enter({ clientId, instanceId, resumed, resumeToken, instance, client });
    } finally {
      this.#arriving.delete(instanceId);
      this.#beingTaken.delete(clientId);
    }
  }

  /** After a message that follows the welcome: the client has the token, the one before is void (ID3). */
  async confirm({ client, resumeToken }: Identity): Promise<void> {
    // guard: client-stored-once-confirmed
    if (client) {
      const confirmed = { ...client, resumeTokenHash: confirmedHash(resumeToken) };
      await this.#deps.store.write([{ type: 'put_client', client: confirmed }]);
    }
  }

  /** A client id that polls is its principal's from its first use on. False: it is taken. */
  async ofPolling(principal: Caller, instance: ConnectedInstance): Promise<boolean> {
    const { clientId } = instance;
    if (!(await this.isOwn(principal, clientId)) && !(await this.#take(clientId))) return false;
    try {
      const client = recordOf(instance, pollingOwner(principal), principal);
      await this.#deps.store.write([{ type: 'put_client', client }]);
      return true;
    } finally {
      this.#beingTaken.delete(clientId);
    }
  }

  /** Tells that the principal polls as that client, or did. */
  async isOwn(principal: Caller, clientId: string): Promise<boolean> {
    if (principal.kind === 'device') return principal.clientId === clientId;
    const known = await this.#deps.store.findClient(clientId, pollingOwner(principal));
    return known !== undefined;
  }

  /** Puts into the audit who named a client id of another principal, once for each pair of both (DV44). */
  async noteRefused(principal: Principal, clientId: string): Promise<void> {
    const { store, audit } = this.#deps;
    const [owner, claimant] = [await store.clientOwner(clientId), principalKey(principal)];
    // A tab of the same person that was copied, or has lost its token, claims nothing of others.
    if (owner === undefined || owner === null || owner === claimant) return;
    const pair = JSON.stringify([owner, claimant]);
    if (this.#noted.has(pair)) return;
    this.#noted.add(pair);
    keepNewest(this.#noted, MOST_NOTED);
    const address = viaOf(principal)?.address ?? 'unknown';
    const detail = { reason: 'the client id belongs to another token' };
    const act = { act: 'client_id_refused', target: clientId, detail } as const;
    await audit.record(byCaller(callerOf(principal), address, act));
  }

  /** Its own when it has proved it, the one that it names when that is free, else a new one. */
  async #clientIdFor(
    principal: Principal,
    hello: Hello | undefined,
    proof: Proof | undefined,
  ): Promise<string> {
    const { newId } = this.#deps;
    const known = ownClientId(principal) ?? proof?.client.clientId;
    const named = hello?.client_id;
    if (known !== undefined || named === undefined) return known ?? newId();
    if (await this.#take(named)) return named;
    this.noteRefused(principal, named).catch(this.#deps.logger.error);
    return newId();
  }

  /**
   * Takes an id that no client has or had (rule ID1): an id belongs to a client from its first use on.
   * Ids of the form that the server makes are never chosen by others, since the id of a client
   * without a hello is not remembered.
   */
  async #take(clientId: string): Promise<boolean> {
    const { store, table, isMadeHere } = this.#deps;
    if (isMadeHere(clientId) || this.#beingTaken.has(clientId)) return false;
    // It stands for each client where one is named.
    if (isAllClients(clientId) || table.hasClient(clientId)) return false;
    this.#beingTaken.add(clientId);
    let isFree = false;
    try {
      isFree = (await store.clientOwner(clientId)) === undefined;
      return isFree;
    } finally {
      if (!isFree) this.#beingTaken.delete(clientId);
    }
  }

  #isHeld(instanceId: string): boolean {
    const { table, instances } = this.#deps;
    return (
      isPolling({ instanceId }) ||
      this.#arriving.has(instanceId) ||
      table.get(instanceId) !== undefined ||
      instances.holdsCalls(instanceId)
    );
  }

  async #proofOf(
    principal: Principal,
    { client_id, instance_id, resume_token }: Hello,
  ): Promise<Proof | undefined> {
    const { store, secretAfter } = this.#deps;
    const clientId = ownClientId(principal) ?? client_id;
    if (clientId === undefined || resume_token === undefined) return undefined;
    // What clients have confirmed so far is on disk (ID3).
    await store.write([]);
    const nextToken = secretAfter(resume_token);
    const find = (tokenHash: string) => store.findClient(clientId, tokenHash);
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
}

/** Cannot be found by the token before, from which the next one follows. */
const confirmedHash = (token: string): string => hash('sha256', `heard ${token}`);

interface Proof {
  /** The instance whose token it is. */
  readonly client: ClientRecord;
  readonly nextToken: string;
  readonly isOfThisInstance: boolean;
}

/** Stands in the place of a token's hash, and cannot be the hash of one. */
export const pollingOwner = (principal: Caller): string => `principal:${principalKey(principal)}`;

const recordOf = (
  { clientId, instanceId, name, kind, journalEpoch, connectedAt }: ConnectedInstance,
  resumeTokenHash: string,
  principal: Principal,
): ClientRecord => ({
  clientId,
  instanceId,
  name,
  kind,
  journalEpoch,
  resumeTokenHash,
  lastSeenAt: connectedAt,
  owner: principalKey(principal),
});

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
