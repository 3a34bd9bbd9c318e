import { z } from 'zod';
import { hasFairShare } from '#lib/limits/counts';
import type { BlockedOrigin, WirePairing } from '#lib/protocol/device';
import { HttpError } from '#lib/protocol/http-error';
import type { RejectedTool } from '#lib/protocol/tool-spec';
import { createEmitter } from '#lib/util/emitter';
import { hashSecret, networkOf } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { KeptArea, type Store } from '../store/room.ts';

export const PAIRING_MS = 10 * 60_000;
/** Codes that nothing has used yet; half of them may be one person's. */
const MOST_OPEN = 16;
const MOST_ASKING = 16;
/** So many of them may be pages that asked by themselves; half of these from one network. */
const MOST_KNOCKS = 8;
/** Decided or expired ones that are still listed. */
const MOST_OVER = 64;
/** Wrong codes until all open ones are void. */
const MOST_WRONG = 5;

export type PairingRequest = NonNullable<WirePairing['request']>;

/** A pairing as people see it, with what they do not. */
export interface Pairing extends WirePairing {
  /** A page that asks by itself has none. */
  readonly codeHash: string | null;
  readonly tokenHash: string | null;
  /** For the device alone. */
  readonly rejected: readonly RejectedTool[];
}

type Asked = Pick<Pairing, 'tokenHash' | 'rejected'> & { readonly request: PairingRequest };
type Ending = Pick<Pairing, 'state'> & Partial<Pick<Pairing, 'decided_by' | 'device_id'>>;

export interface PairingsDeps {
  readonly clock: Clock;
  readonly newId: (prefix: 'pair') => string;
  readonly newCode: () => string;
  readonly logger: Logger;
}

/** Pairings from their code to their decision. In memory alone: a restart ends those that are not decided. */
export class Pairings {
  readonly #deps: PairingsDeps;
  /** Oldest first. */
  readonly #all = new Map<string, Pairing>();
  /** Since the last moment without an open code. */
  #wrong = 0;
  #cancelSweep = () => {};
  readonly #changes;

  constructor(deps: PairingsDeps) {
    this.#deps = deps;
    this.#changes = createEmitter<Pairing>(deps.logger.error);
  }

  open(createdBy: string): { readonly pairing: Pairing; readonly code: string } {
    const codes = this.#of('open');
    const own = codes.filter((one) => one.created_by === createdBy);
    if (!hasFairShare(own.length, codes.length, MOST_OPEN)) {
      throw new HttpError('conflict', 'As many codes are open as may be: withdraw one first.');
    }
    const code = this.#deps.newCode();
    return { pairing: this.#put(this.#create(createdBy, hashSecret(code))), code };
  }

  /**
   * The open pairing with this code. One that was right before, and is used or over, is answered as
   * a wrong one and counts as none: the device that used it may look again. `burned`: how many open
   * codes this wrong one made void.
   */
  tryCode(code: string): { readonly pairing?: Pairing | undefined; readonly burned: number } {
    const codeHash = hashSecret(code);
    const known = this.list().filter((one) => one.codeHash === codeHash);
    const pairing = known.find(({ state }) => state === 'open');
    const open = this.#of('open');
    if (known.length > 0 || open.length === 0) return { pairing, burned: 0 };
    this.#wrong += 1;
    if (this.#wrong < MOST_WRONG) return { burned: 0 };
    for (const one of open) this.end(one, { state: 'burned' });
    return { burned: open.length };
  }

  /** The one that this token asked by, newest first. */
  ofToken(tokenHash: string): Pairing | undefined {
    return this.list().find((one) => one.tokenHash === tokenHash);
  }

  /** A device asks, and its code is used up; a page asks without one. Undefined when the code is not open any more. */
  ask(asked: Asked, by?: Pairing): Pairing | undefined {
    if (by && this.get(by.pairing_id)?.state !== 'open') return undefined;
    const { expires_at, ...before } = this.#create(null, null);
    return this.#put({ ...before, ...by, ...asked, state: 'asking', expires_at });
  }

  /** Tells that one more may ask; with an address, a page there that has no code. */
  hasRoom(knockFrom?: string): boolean {
    this.#sweep();
    const asking = this.#of('asking');
    if (asking.length >= MOST_ASKING) return false;
    if (knockFrom === undefined) return true;
    const knocks = asking.filter(({ created_by }) => created_by === null);
    const network = networkOf(knockFrom);
    const own = knocks.filter(({ request }) => request && networkOf(request.address) === network);
    return hasFairShare(own.length, knocks.length, MOST_KNOCKS);
  }

  /** A person may have decided in time on one that expired until that was on disk. */
  end(pairing: Pairing, { decided_by = null, device_id = null, state }: Ending): Pairing {
    const decided_at = this.#deps.clock.now() / 1_000;
    return this.#put({ ...pairing, state, decided_by, device_id, decided_at });
  }

  get(id: string): Pairing | undefined {
    this.#sweep();
    return this.#all.get(id);
  }

  /** Newest first. */
  list(): Pairing[] {
    this.#sweep();
    return [...this.#all.values()].reverse();
  }

  get asking(): number {
    return this.#of('asking').length;
  }

  /** Called with each one that is new or other than before. Returns a function that unsubscribes. */
  onChange(listener: (pairing: Pairing) => void): () => void {
    return this.#changes.subscribe(listener);
  }

  stop(): void {
    this.#cancelSweep();
  }

  #create(created_by: string | null, codeHash: string | null): Pairing {
    const now = this.#deps.clock.now();
    return {
      pairing_id: this.#deps.newId('pair'),
      state: 'open',
      created_at: now / 1_000,
      created_by,
      expires_at: (now + PAIRING_MS) / 1_000,
      request: null,
      device_id: null,
      decided_by: null,
      decided_at: null,
      codeHash,
      tokenHash: null,
      rejected: [],
    };
  }

  #of(state: Pairing['state']): Pairing[] {
    return [...this.#all.values()].filter((one) => one.state === state);
  }

  #put(pairing: Pairing): Pairing {
    this.#all.set(pairing.pairing_id, pairing);
    if (this.#of('open').length === 0) this.#wrong = 0;
    this.#tidy();
    this.#changes.emit(pairing);
    return pairing;
  }

  #sweep(): void {
    const now = this.#deps.clock.now() / 1_000;
    for (const one of [...this.#all.values()]) {
      if (!isOver(one) && one.expires_at <= now) this.end(one, { state: 'expired' });
    }
    this.#tidy();
  }

  /** Forgets those that are over for as long as a code lives, and the oldest of many; looks again when the next expires. */
  #tidy(): void {
    const now = this.#deps.clock.now();
    const all = [...this.#all.values()];
    const over = all.filter(isOver);
    for (const [place, { pairing_id, decided_at }] of over.entries()) {
      const isOld = (decided_at ?? 0) <= (now - PAIRING_MS) / 1_000;
      if (isOld || place < over.length - MOST_OVER) this.#all.delete(pairing_id);
    }
    this.#cancelSweep();
    const first = Math.min(...all.flatMap((one) => (isOver(one) ? [] : [one.expires_at])));
    if (first === Number.POSITIVE_INFINITY) return;
    // A timer may come before its time by the clock of the wall, and is set anew then.
    const wait = Math.max(0, Math.round(first * 1_000) - now);
    this.#cancelSweep = this.#deps.clock.schedule(wait, () => this.#sweep());
  }
}

const isOver = ({ state }: Pairing): boolean => state !== 'open' && state !== 'asking';

/** The oldest is forgotten beyond. */
const MOST_BLOCKED = 500;

const blockSchema = z.object({ blockedAt: z.number(), blockedBy: z.string() });
type Block = z.infer<typeof blockSchema>;

/** Origins of pages that may not ask, until a person lifts that. Each is on disk. */
export class BlockedOrigins {
  readonly #kept: KeptArea<Block>;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #all = new Map<string, Block>();

  constructor({ store, clock }: { store: Pick<Store, 'write' | 'listKept'>; clock: Clock }) {
    const { now } = clock;
    this.#now = now;
    this.#kept = new KeptArea({ store, area: 'blocked_origin', schema: blockSchema, now });
  }

  async load(): Promise<void> {
    for (const { key, value } of await this.#kept.load()) this.#all.set(key, value);
  }

  has(origin: string): boolean {
    return this.#all.has(origin);
  }

  /** Newest first. */
  list(): BlockedOrigin[] {
    const all = [...this.#all].reverse();
    return all.map(([origin, { blockedAt, blockedBy }]) => ({
      origin,
      blocked_at: blockedAt / 1_000,
      blocked_by: blockedBy,
    }));
  }

  async add(origin: string, blockedBy: string): Promise<void> {
    const value = { blockedAt: this.#now(), blockedBy };
    this.#all.delete(origin);
    this.#all.set(origin, value);
    const oldest = [...this.#all.keys()].slice(0, Math.max(0, this.#all.size - MOST_BLOCKED));
    for (const key of oldest) this.#all.delete(key);
    await this.#kept.change([{ key: origin, value }, ...oldest.map((key) => ({ key }))]);
  }

  /** False: it is not blocked. */
  async lift(origin: string): Promise<boolean> {
    if (!this.#all.delete(origin)) return false;
    await this.#kept.change([{ key: origin }]);
    return true;
  }
}
