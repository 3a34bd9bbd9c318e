import type { RunSummary } from '#lib/protocol/run';
import { given } from '#lib/util/given';
import { FIRST_OPERATOR, type Principal, principalName } from '../auth/room.ts';
import type { Logger } from '../base/logger.ts';
import type { ClaimRun, RunClaim } from '../calls/room.ts';
import type { Spans } from '../telemetry/room.ts';
import { ActiveTurns, placeOf } from './active-turns.ts';
import { LiveRun, type LiveRunDeps, type StoredRun } from './live-run.ts';
import { WINDOW_BYTES } from './message-page.ts';
import { newRun } from './new-run.ts';
import { ownerOf } from './run-owner.ts';

/** Runs kept whole, beside those that have a turn. */
const KEPT_RUNS = 64;
/** Ids that need no look-up: one each for as many agents as call at a time. */
const KEPT_IDS = 10_000;
/** A call that was asked for with a run is in the store by then. */
const IN_USE_MS = 60_000;

interface KeptClaim extends RunClaim {
  askedAt: number;
}

export interface KnownRunsDeps extends Omit<LiveRunDeps, 'above'> {
  readonly maxSteps: number;
  readonly logger: Logger;
  readonly spans?: Pick<Spans, 'add'>;
}

type Claimed = (runId: string, ownerToken: string | null) => void;

/** The runs that are in memory, and the way to those that are not. */
export class KnownRuns {
  readonly #deps: KnownRunsDeps;
  /** The turns that run now. Their runs are in memory. */
  readonly turns: ActiveTurns;
  readonly #kept = new Map<string, LiveRun>();
  readonly #claims = new Map<string, KeptClaim>();
  readonly #loading = new Map<string, Promise<LiveRun | undefined>>();
  readonly #making = new Map<string, Promise<RunClaim>>();
  readonly #deleting = new Map<string, Promise<unknown>>();
  readonly #claimListeners: Claimed[] = [];

  constructor(deps: KnownRunsDeps) {
    this.#deps = deps;
    this.turns = new ActiveTurns(deps);
  }

  /** A run that begins; it is not known yet. */
  make(summary: RunSummary): LiveRun {
    return this.#create({ summary, messages: [], to: 0, askedBefore: 0 });
  }

  #create(stored: StoredRun): LiveRun {
    const above = (runId: string) => this.turns.runOf(runId);
    return new LiveRun({ ...this.#deps, above }, stored);
  }

  /** The one live object of a run. Undefined when there is no such run. */
  load(runId: string): Promise<LiveRun | undefined> {
    const live = this.#kept.get(runId);
    if (live) return Promise.resolve(this.add(live));
    return once(this.#loading, runId, () => this.#read(runId));
  }

  /** One that is loaded already, at work or not. */
  readonly inMemory = (runId: string): LiveRun | undefined =>
    this.turns.runOf(runId) ?? this.#kept.get(runId);

  /** The run that a person or a program began, of one that may be a sub-agent's. */
  readonly rootOf = (runId: string): string => placeOf(this.turns, runId).rootId;

  /** Calls back when it is known whose run an id is, before a call in it is decided. */
  onClaimed(listener: Claimed): void {
    this.#claimListeners.push(listener);
  }

  /** Costs nothing for a run that was asked for before. */
  readonly claim: ClaimRun = (runId, title, principal) => {
    const known = this.#claims.get(runId);
    if (!known) return once(this.#making, runId, () => this.#make(runId, title, principal));
    known.askedAt = this.#deps.clock.now();
    this.#wasClaimed(runId, known.ownerToken);
    return known;
  };

  /**
   * Lets `work` delete a run, unless it is in use: resolves to whether it did. Who asks for the run
   * meanwhile waits, and finds it gone.
   */
  readonly deleteUnused = async (runId: string, work: () => Promise<void>): Promise<boolean> => {
    // One in memory may be in use by a request: that takes it back meanwhile, or lets it go.
    if (!this.turns.isActive(runId)) this.#kept.delete(runId);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#isInUse(runId)) return false;
    this.#claims.delete(runId);
    await once(this.#deleting, runId, work);
    return true;
  };

  add(run: LiveRun): LiveRun {
    this.#kept.delete(run.runId);
    this.#kept.set(run.runId, run);
    // Two live objects of one must not be.
    dropOldest(this.#kept, KEPT_RUNS, (id) => this.turns.isActive(id));
    return run;
  }

  async #read(runId: string): Promise<LiveRun | undefined> {
    const { store } = this.#deps;
    await this.#deleting.get(runId);
    const newest = { runId, maxChars: WINDOW_BYTES };
    const [summary, page, tokens, tokensBelow] = await Promise.all([
      store.getRun(runId),
      store.listMessages(newest),
      store.runTokens(runId),
      store.tokensBelow(runId),
    ]);
    if (!summary) return undefined;
    // It may have been made, and begun its first turn, while it was looked up.
    const live = this.#kept.get(runId) ?? this.turns.runOf(runId);
    return this.add(live ?? this.#create({ summary, ...page, tokens, tokensBelow }));
  }

  async #make(runId: string, title: string, principal: Principal): Promise<RunClaim> {
    const { store, clock, maxSteps } = this.#deps;
    await this.#deleting.get(runId);
    const known = this.#kept.get(runId)?.summary() ?? (await store.getRun(runId));
    const owner = known ? known.owner : ownerOf(principal);
    const run = { run_id: runId, title, max_steps: maxSteps, ...given({ owner }) };
    let written = known && Promise.resolve();
    const write = () => (written ??= this.#write(newRun(clock, run)));
    const ownerToken = owner?.token_id ?? null;
    const ownerName = owner?.name ?? principalName(FIRST_OPERATOR);
    const claim = { ownerToken, ownerName, write, askedAt: clock.now() };
    this.#claims.set(runId, claim);
    this.#wasClaimed(runId, ownerToken);
    dropOldest(this.#claims, KEPT_IDS);
    return claim;
  }

  #wasClaimed(runId: string, ownerToken: string | null): void {
    for (const listener of this.#claimListeners) listener(runId, ownerToken);
  }

  /** Not claimed any more where it could not be written. */
  #write(run: RunSummary): Promise<void> {
    const { store, bus } = this.#deps;
    const written = store.write([{ type: 'put_run', run }]).then(() => {
      bus.publish({ type: 'run', run });
    });
    written.catch(() => this.#claims.delete(run.run_id));
    return written;
  }

  #isInUse(runId: string): boolean {
    return (
      this.#kept.has(runId) ||
      [this.#loading, this.#making, this.#deleting].some((map) => map.has(runId)) ||
      this.turns.isActive(runId) ||
      this.#deps.clock.now() - (this.#claims.get(runId)?.askedAt ?? 0) < IN_USE_MS
    );
  }
}

/** All who ask while it is being done share it. */
function once<T>(
  running: Map<string, Promise<T>>,
  key: string,
  start: () => Promise<T>,
): Promise<T> {
  const known = running.get(key);
  if (known) return known;
  const started = start().finally(() => running.delete(key));
  running.set(key, started);
  return started;
}

function dropOldest(
  kept: { size: number; keys(): Iterable<string>; delete(key: string): boolean },
  most: number,
  isNeeded: (key: string) => boolean = () => false,
): void {
  if (kept.size <= most) return;
  for (const key of kept.keys()) {
    if (isNeeded(key)) continue;
    kept.delete(key);
    return;
  }
}
