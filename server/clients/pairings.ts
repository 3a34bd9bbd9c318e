import { z } from 'zod';
import { hasFairShare } from '#lib/limits/counts';
import type { DeviceTool, PairingState } from '#lib/protocol/device';
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

/** A device asks for this. Times are in milliseconds since the epoch. */
export interface PairingRequest {
  readonly tokenHash: string;
  readonly name: string;
  readonly kind: 'tab' | 'phone' | 'program';
  readonly browser: string;
  readonly address: string;
  readonly origin: string | null;
  readonly tools: readonly DeviceTool[];
  /** For the device alone. */
  readonly rejected: readonly RejectedTool[];
  readonly askedAt: number;
}

export interface Pairing {
  readonly id: string;
  readonly state: PairingState;
  readonly createdAt: number;
  readonly createdBy: string | null;
  readonly expiresAt: number;
  readonly codeHash: string | null;
  readonly request: PairingRequest | null;
  readonly deviceId: string | null;
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
}

export type TriedCode =
  | { readonly ok: true; readonly pairing: Pairing }
  /** `burned`: how many open codes this wrong one made void. */
  | { readonly ok: false; readonly burned: number };

export interface PairingsDeps {
  readonly clock: Clock;
  readonly newId: (prefix: 'pair') => string;
  readonly newCode: () => string;
  readonly logger: Logger;
}

type Decided = Pick<Pairing, 'state' | 'decidedBy' | 'deviceId'>;

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

  /** Undefined when as many of this person, or of all, are open as may be. */
  open(createdBy: string): { readonly pairing: Pairing; readonly code: string } | undefined {
    const codes = this.list().filter(({ state }) => state === 'open');
    const own = codes.filter((one) => one.createdBy === createdBy);
    if (!hasFairShare(own.length, codes.length, MOST_OPEN)) return undefined;
    const { clock, newId, newCode } = this.#deps;
    const code = newCode();
    const now = clock.now();
    const pairing: Pairing = {
      id: newId('pair'),
      state: 'open',
      createdBy,
      codeHash: hashSecret(code),
      createdAt: now,
      expiresAt: now + PAIRING_MS,
      request: null,
      ...UNDECIDED,
    };
    this.#put(pairing);
    return { pairing, code };
  }

  /**
   * The open pairing with this code. One that was right before, and is used or over, is answered as
   * a wrong one and counts as none: the device that used it may look again.
   */
  tryCode(code: string): TriedCode {
    this.#sweep();
    const codeHash = hashSecret(code);
    const known = [...this.#all.values()].filter((one) => one.codeHash === codeHash);
    const pairing = known.find(({ state }) => state === 'open');
    if (pairing) return { ok: true, pairing };
    const open = this.list().filter(({ state }) => state === 'open');
    if (known.length > 0 || open.length === 0) return { ok: false, burned: 0 };
    this.#wrong += 1;
    if (this.#wrong < MOST_WRONG) return { ok: false, burned: 0 };
    for (const one of open) this.#end(one, { state: 'burned', decidedBy: null, deviceId: null });
    return { ok: false, burned: open.length };
  }

  /** The one that this token asked by, newest first. */
  ofToken(tokenHash: string): Pairing | undefined {
    this.#sweep();
    return this.list().find(({ request }) => request?.tokenHash === tokenHash);
  }

  /** The device asks, and the code is used up. Undefined when it is not open any more. */
  ask(id: string, request: PairingRequest): Pairing | undefined {
    const pairing = this.get(id);
    if (pairing?.state !== 'open') return undefined;
    return this.#put({ ...pairing, state: 'asking', request, expiresAt: this.#expiry() });
  }

  /** A page asks without a code. */
  knock(request: PairingRequest): Pairing {
    return this.#put({
      id: this.#deps.newId('pair'),
      state: 'asking',
      createdBy: null,
      codeHash: null,
      createdAt: request.askedAt,
      expiresAt: this.#expiry(),
      request,
      ...UNDECIDED,
    });
  }

  /** Tells that one more may ask; with an address, a page there that has no code. */
  hasRoom(knockFrom?: string): boolean {
    this.#sweep();
    const asking = this.list().filter(({ state }) => state === 'asking');
    const knocks = asking.filter(({ createdBy }) => createdBy === null);
    if (asking.length >= MOST_ASKING) return false;
    if (knockFrom === undefined) return true;
    const network = networkOf(knockFrom);
    const own = knocks.filter(({ request }) => request && networkOf(request.address) === network);
    return hasFairShare(own.length, knocks.length, MOST_KNOCKS);
  }

  /** One that a person decided on in time, also where it expired until that was on disk. */
  settle(pairing: Pairing, decided: Decided): Pairing {
    return this.#end(pairing, decided);
  }

  get(id: string): Pairing | undefined {
    this.#sweep();
    return this.#all.get(id);
  }

  /** Newest first. */
  list(): Pairing[] {
    return [...this.#all.values()].reverse();
  }

  current(): Pairing[] {
    this.#sweep();
    return this.list();
  }

  get asking(): number {
    return this.#count('asking');
  }

  /** Called with each one that is new or other than before. Returns a function that unsubscribes. */
  onChange(listener: (pairing: Pairing) => void): () => void {
    return this.#changes.subscribe(listener);
  }

  stop(): void {
    this.#cancelSweep();
  }

  #expiry(): number {
    return this.#deps.clock.now() + PAIRING_MS;
  }

  #count(state: Pairing['state']): number {
    return [...this.#all.values()].filter((one) => one.state === state).length;
  }

  #end(pairing: Pairing, decided: Decided): Pairing {
    return this.#put({ ...pairing, ...decided, decidedAt: this.#deps.clock.now() });
  }

  #put(pairing: Pairing): Pairing {
    this.#all.set(pairing.id, pairing);
    if (this.#count('open') === 0) this.#wrong = 0;
    this.#forget();
    this.#changes.emit(pairing);
    this.#armSweep();
    return pairing;
  }

  /** Forgets those that are over for as long as a code lives, and the oldest of many. */
  #forget(): void {
    const over = [...this.#all.values()].filter(isOver);
    const before = this.#deps.clock.now() - PAIRING_MS;
    for (const [place, { id, decidedAt }] of over.entries()) {
      const isOld = (decidedAt ?? 0) <= before;
      if (isOld || place < over.length - MOST_OVER) this.#all.delete(id);
    }
  }

  #sweep(): void {
    const now = this.#deps.clock.now();
    for (const one of [...this.#all.values()]) {
      if (isOver(one) || one.expiresAt > now) continue;
      this.#end(one, { state: 'expired', decidedBy: null, deviceId: null });
    }
    this.#forget();
  }

  #armSweep(): void {
    this.#cancelSweep();
    const live = [...this.#all.values()].filter((one) => !isOver(one));
    if (live.length === 0) return;
    const first = Math.min(...live.map(({ expiresAt }) => expiresAt));
    const wait = Math.max(0, first - this.#deps.clock.now());
    this.#cancelSweep = this.#deps.clock.schedule(wait, () => {
      this.#sweep();
      // A timer may come before its time by the clock of the wall, and then none has expired.
      this.#armSweep();
    });
  }
}

const UNDECIDED = { deviceId: null, decidedBy: null, decidedAt: null };

const isOver = ({ state }: Pairing): boolean => state !== 'open' && state !== 'asking';

/** The oldest is forgotten beyond. */
const MOST = 500;

const blockSchema = z.object({ blockedAt: z.number(), blockedBy: z.string() });
type Block = z.infer<typeof blockSchema>;

/** Origins of pages that may not ask, until a person lifts that. Each is on disk. */
export class BlockedOrigins {
  readonly #kept: KeptArea<Block>;
  /** Oldest first. */
  readonly #all = new Map<string, Block>();

  constructor(deps: { store: Pick<Store, 'write' | 'listKept'>; clock: Pick<Clock, 'now'> }) {
    const { store, clock } = deps;
    this.#kept = new KeptArea({
      store,
      area: 'blocked_origin',
      schema: blockSchema,
      now: clock.now,
    });
  }

  async load(): Promise<void> {
    for (const { key, value } of await this.#kept.load()) this.#all.set(key, value);
  }

  has(origin: string): boolean {
    return this.#all.has(origin);
  }

  list(): (Block & { readonly origin: string })[] {
    return [...this.#all].map(([origin, block]) => ({ origin, ...block })).reverse();
  }

  async add(origin: string, block: Block): Promise<void> {
    this.#all.delete(origin);
    this.#all.set(origin, block);
    const oldest = [...this.#all.keys()].slice(0, Math.max(0, this.#all.size - MOST));
    for (const key of oldest) this.#all.delete(key);
    await this.#kept.change([{ key: origin, value: block }, ...oldest.map((key) => ({ key }))]);
  }

  /** False: it is not blocked. */
  async lift(origin: string): Promise<boolean> {
    if (!this.#all.delete(origin)) return false;
    await this.#kept.change([{ key: origin }]);
    return true;
  }
}
