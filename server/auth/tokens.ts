import { HttpError } from '#lib/protocol/http-error';
import type { Role } from '#lib/protocol/role';
import { createEmitter, type Emitter } from '#lib/util/emitter';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Change, Store, TokenRecord } from '../store/room.ts';
import { type Caller, FIRST_OPERATOR } from './principal.ts';
import { hashSecret } from './secrets.ts';

/** So many tokens open something. */
const MOST_LIVE = 1_000;
/** Revoked ones that are still listed; those that were revoked first go first. */
const KEPT_REVOKED = 1_000;
/** Use is written down this often at most. */
const USED_EVERY_MS = 60_000;

const PREFIXES = { operator: 'cb_op_', agent: 'cb_agent_' } as const;

export type NewToken =
  | { readonly kind: 'operator'; readonly name: string; readonly role: Role }
  | { readonly kind: 'agent'; readonly name: string; readonly tools: readonly string[] };

export interface CreatedToken {
  readonly token: TokenRecord;
  readonly secret: string;
}

/** A device makes its token by itself. */
export interface NewDeviceToken {
  /** SHA-256, hex. */
  readonly hash: string;
  readonly name: string;
  readonly clientId: string;
}

export interface TokensDeps {
  readonly store: Pick<Store, 'write' | 'listTokens'>;
  readonly clock: Clock;
  readonly newId: (prefix: 'tok') => string;
  /** 256 random bits as text that a header and a subprotocol can carry. */
  readonly newSecret: () => string;
  /** The secret is the token of the first run. */
  readonly isFirst?: (secret: string) => boolean;
  readonly logger: Logger;
}

interface Held {
  readonly record: TokenRecord;
  readonly caller: Caller;
}

/**
 * The tokens that were made here, beside the one of the first run. All of them are in
 * memory, so that a request reads nothing from the store; that has the hashes alone.
 */
export class Tokens {
  readonly #deps: TokensDeps;
  readonly #all = new Map<string, Held>();
  /** Live ones. By hash: how long a look-up takes reveals nothing about a secret. */
  readonly #idByHash = new Map<string, string>();
  /** Tokens that are being written open nothing yet. */
  readonly #unwritten = new Set<string>();
  readonly #revocations: Emitter<string>;

  constructor(deps: TokensDeps) {
    this.#deps = deps;
    this.#revocations = createEmitter(deps.logger.error);
  }

  /** Takes up what an earlier server made. Once, before anything is asked. */
  async load(): Promise<void> {
    for (const token of await this.#deps.store.listTokens()) this.#keep(token);
  }

  /** Resolves when the token is on disk. The secret is nowhere but in the result. Refused with `HttpError`. */
  async create(asked: NewToken, createdBy: string): Promise<CreatedToken> {
    refuse(this.#problemOf(asked));
    const secret = PREFIXES[asked.kind] + this.#deps.newSecret();
    const token = await this.#add({ ...asked, hash: hashSecret(secret), createdBy });
    return { token, secret };
  }

  /**
   * Resolves when the token is on disk, together with the changes that belong to it. Its name need
   * not be its own; its hash is, for ever.
   */
  async createForDevice(
    { hash, name, clientId }: NewDeviceToken,
    createdBy: string,
    together: (tokenId: string) => readonly Change[],
  ): Promise<TokenRecord> {
    const isKnown = [...this.#all.values()].some(({ record }) => record.hash === hash);
    refuse(isKnown ? 'This token is in use, or was revoked: make another one' : undefined);
    refuse(this.#fullProblem());
    const made = { kind: 'device', hash, name, clientId, createdBy } as const;
    return this.#add(made, together);
  }

  async #add(
    made: Pick<TokenRecord, 'kind' | 'name' | 'hash' | 'createdBy'> & Partial<TokenRecord>,
    together: (tokenId: string) => readonly Change[] = () => [],
  ): Promise<TokenRecord> {
    const token: TokenRecord = {
      role: null,
      tools: null,
      clientId: null,
      ...made,
      id: this.#deps.newId('tok'),
      createdAt: this.#deps.clock.now(),
      lastUsedAt: null,
      revokedAt: null,
    };
    // At once, so that its name and its hash are taken.
    this.#keep(token);
    this.#unwritten.add(token.id);
    try {
      await this.#deps.store.write([{ type: 'put_token', token }, ...together(token.id)]);
      return token;
    } catch (error) {
      this.#forget(token);
      throw error;
    } finally {
      this.#unwritten.delete(token.id);
    }
  }

  /** Newest first; `before` is the id of the last one of the page before. */
  list({ before, limit }: { readonly before?: string; readonly limit: number }): TokenRecord[] {
    const ids = [...this.#all.keys()].filter((id) => before === undefined || id < before);
    const page = ids.sort().reverse().slice(0, limit);
    return page.flatMap((id) => this.#all.get(id)?.record ?? []);
  }

  /**
   * It opens nothing from now on: its sockets and streams are closed, its sign-ins end. Resolves
   * when that is on disk. Undefined: there is no such token, or it was revoked before.
   */
  async revoke(id: string): Promise<TokenRecord | undefined> {
    const known = this.#all.get(id)?.record;
    if (!known || known.revokedAt !== null) return undefined;
    const token = { ...known, revokedAt: this.#deps.clock.now() };
    this.#keep(token);
    this.#revocations.emit(id);
    const oldest = this.#oldestRevoked();
    for (const one of oldest) this.#forget(one);
    await this.#deps.store.write([
      { type: 'put_token', token },
      { type: 'delete_sessions_of', tokenId: id },
      ...oldest.map((one) => ({ type: 'delete_token' as const, id: one.id })),
    ]);
    return token;
  }

  /** The caller whose secret it is, the operator of the first run among them. */
  find(secret: string): Caller | undefined {
    return this.#findMade(secret) ?? (this.#deps.isFirst?.(secret) ? FIRST_OPERATOR : undefined);
  }

  #findMade(secret: string): Caller | undefined {
    if (!secret.startsWith('cb_')) return undefined;
    const id = this.#idByHash.get(hashSecret(secret));
    // A device has its secret before the token is on disk.
    return id === undefined || this.#unwritten.has(id) ? undefined : this.callerOf(id);
  }

  /** Null is the token of the first run. Undefined once it is revoked. Counts as its use. */
  callerOf(id: string | null): Caller | undefined {
    if (id === null) return FIRST_OPERATOR;
    const held = this.#all.get(id);
    if (!held || held.record.revokedAt !== null) return undefined;
    this.#touch(held);
    return held.caller;
  }

  /** The operator whose live token has the name. */
  operatorNamed(name: string): Caller | undefined {
    return this.#liveNamed('operator', name)?.caller;
  }

  /** The id of the live token of the program that has the name. */
  programNamed(name: string): string | undefined {
    return this.#liveNamed('agent', name)?.record.id;
  }

  /** Also of one that was revoked. */
  isProgram(id: string): boolean {
    return this.#all.get(id)?.record.kind === 'agent';
  }

  /** Null where it was never used, or is not known. */
  lastUsedAt(id: string): number | null {
    return this.#all.get(id)?.record.lastUsedAt ?? null;
  }

  isLive(id: string): boolean {
    return this.#all.get(id)?.record.revokedAt === null;
  }

  /** Called with the id of each token that is revoked. Returns a function that unsubscribes. */
  onRevoked(listener: (id: string) => void): () => void {
    return this.#revocations.subscribe(listener);
  }

  #fullProblem(): string | undefined {
    if (this.#idByHash.size < MOST_LIVE) return undefined;
    return `There are ${MOST_LIVE} tokens; revoke one that is not used`;
  }

  #problemOf({ kind, name }: NewToken): string | undefined {
    const problem = this.#fullProblem();
    if (problem !== undefined) return problem;
    // Policies and limits name the operator of the first run so.
    const isReserved = kind === 'operator' && name === FIRST_OPERATOR.name;
    if (!isReserved && !this.#liveNamed(kind, name)) return undefined;
    return `The name ${JSON.stringify(name)} is taken; revoke that token first, or use another name`;
  }

  #liveNamed(kind: NewToken['kind'], name: string): Held | undefined {
    for (const id of this.#idByHash.values()) {
      const held = this.#all.get(id);
      if (held?.record.kind === kind && held.record.name === name) return held;
    }
    return undefined;
  }

  #keep(record: TokenRecord): void {
    const before = this.#all.get(record.id);
    this.#all.set(record.id, { record, caller: before?.caller ?? toCaller(record) });
    if (record.revokedAt === null) this.#idByHash.set(record.hash, record.id);
    else this.#idByHash.delete(record.hash);
  }

  #forget({ id, hash }: TokenRecord): void {
    this.#all.delete(id);
    this.#idByHash.delete(hash);
  }

  #oldestRevoked(): TokenRecord[] {
    const revoked = [...this.#all.values()].flatMap(({ record }) =>
      record.revokedAt === null ? [] : [record],
    );
    if (revoked.length <= KEPT_REVOKED) return [];
    const byAge = revoked.toSorted((a, b) => (a.revokedAt ?? 0) - (b.revokedAt ?? 0));
    return byAge.slice(0, revoked.length - KEPT_REVOKED);
  }

  #touch({ record }: Held): void {
    const now = this.#deps.clock.now();
    if (record.lastUsedAt !== null && now - record.lastUsedAt < USED_EVERY_MS) return;
    const token = { ...record, lastUsedAt: now };
    this.#keep(token);
    const { store, logger } = this.#deps;
    store.write([{ type: 'put_token', token }], { mayWait: true }).catch(logger.error);
  }
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new HttpError('conflict', problem);
}

function toCaller({ id, kind, name, role, tools, clientId }: TokenRecord): Caller {
  switch (kind) {
    case 'operator':
      // A row without a role is none of ours: it allows the least.
      return { kind, name, role: role ?? 'viewer', tokenId: id, sessionId: null };
    case 'agent':
      return { kind, name, tools: tools ?? [], tokenId: id };
    case 'device':
      return { kind, clientId: clientId ?? name, tokenId: id };
  }
}
