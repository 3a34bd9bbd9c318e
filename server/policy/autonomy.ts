import { z } from 'zod';
import { AUTONOMY_LEVELS, type AutonomyLevel, levelOfRun } from '#lib/policy/autonomy';
import type { WireAutonomy } from '#lib/policy/policy-wire';
import { given } from '#lib/util/given';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { EventBus } from '../events/room.ts';
import { KeptArea, type Store } from '../store/room.ts';

const MOST_RUNS = 1_000;

/** Run ids are not empty. */
const FOR_ALL = '';

const keptSchema = z.object({
  level: z.enum(AUTONOMY_LEVELS),
  setAt: z.number(),
  /** There is no run of the name yet: the level is for one of this token; null: of the first operator. */
  waitsFor: z.string().nullable().optional(),
});
type Kept = z.infer<typeof keptSchema>;

export interface AutonomyDeps {
  readonly store: Pick<Store, 'write' | 'listKept' | 'getRun'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bus: Pick<EventBus, 'publish'>;
  /** The run that a person or a program began, of one that may be a sub-agent's. */
  readonly rootOf?: (runId: string) => string;
}

/** The level that people set for all runs and for single ones; it holds until it is set again, over restarts too. */
export class Autonomy {
  readonly #kept: KeptArea<Kept>;
  readonly #deps: AutonomyDeps;
  readonly #levels = new Map<string, Kept>();

  constructor(deps: AutonomyDeps) {
    const { store, clock } = deps;
    this.#deps = deps;
    this.#kept = new KeptArea({ store, area: 'autonomy', schema: keptSchema, now: clock.now });
  }

  /** Takes up what an earlier server kept. Once, before anything is asked. */
  async load(): Promise<void> {
    for (const { key, value } of await this.#kept.load()) this.#levels.set(key, value);
  }

  /** A sub-agent's run has the level of the one that it works for, and may be set to less. */
  of(runId: string): AutonomyLevel {
    const rootId = this.#deps.rootOf?.(runId) ?? runId;
    const level = levelOfRun(this.#all(), this.#levelOf(rootId));
    const own = this.#levelOf(runId) ?? level;
    return AUTONOMY_LEVELS.indexOf(own) < AUTONOMY_LEVELS.indexOf(level) ? own : level;
  }

  #levelOf(runId: string): AutonomyLevel | undefined {
    const kept = this.#levels.get(runId);
    return kept?.waitsFor === undefined ? kept?.level : undefined;
  }

  /**
   * Resolves when it holds and is on disk. `level` null: the run has none of its own any more.
   * False: too many runs have one. None goes by itself, since that could give a run more. `by`: the
   * token of who sets it; where there is no such run yet, the level waits for one of that token.
   */
  async set(
    level: AutonomyLevel | null,
    runId: string | null,
    by?: string | null,
  ): Promise<boolean> {
    const isThere =
      by === undefined || runId === null || (await this.#deps.store.getRun(runId)) !== undefined;
    const key = runId ?? FOR_ALL;
    const own = this.#levels.size - (this.#levels.has(FOR_ALL) ? 1 : 0);
    if (runId !== null && level !== null && !this.#levels.has(key) && own >= MOST_RUNS)
      return false;
    if (level === null) {
      this.#levels.delete(key);
      this.#publish(runId, level, this.#deps.clock.now());
      await this.#kept.change([{ key }]);
    } else {
      const waitsFor = isThere ? undefined : by;
      const value = { level, setAt: this.#deps.clock.now(), ...given({ waitsFor }) };
      this.#levels.set(key, value);
      this.#publish(runId, level, value.setAt);
      await this.#kept.change([{ key, value }]);
    }
    return true;
  }

  /** The run has an owner now: what was set for its name holds if that one set it, or else goes. */
  readonly claimed = (runId: string, ownerToken: string | null): void => {
    const kept = this.#levels.get(runId);
    if (kept?.waitsFor === undefined) return;
    const { waitsFor, ...value } = kept;
    const isOwn = waitsFor === ownerToken;
    if (isOwn) this.#levels.set(runId, value);
    else this.#levels.delete(runId);
    if (!isOwn) this.#publish(runId, null, this.#deps.clock.now());
    const change = isOwn ? { key: runId, value } : { key: runId };
    this.#kept.change([change]).catch(this.#deps.logger.error);
  };

  /**
   * Around what deletes a run: its level goes with it. One that is made anew under its id, by
   * another caller perhaps, has none.
   */
  readonly deleting = (runId: string, work: () => Promise<void>) => async (): Promise<void> => {
    await work();
    // Called in meanwhile, it was not deleted.
    if (this.#levels.has(runId) && !(await this.#deps.store.getRun(runId)))
      await this.set(null, runId);
  };

  state(): WireAutonomy {
    const runs = [...this.#levels].flatMap(([run_id, { level, setAt }]) =>
      run_id === FOR_ALL ? [] : [{ run_id, level, set_at: setAt / 1_000 }],
    );
    return { level: this.#all(), runs };
  }

  /** It holds from now on, so watchers are sent it now. */
  #publish(runId: string | null, level: AutonomyLevel | null, setAt: number): void {
    this.#deps.bus.publish({ type: 'autonomy', of_run: runId, level, set_at: setAt / 1000 });
  }

  #all(): AutonomyLevel {
    return this.#levels.get(FOR_ALL)?.level ?? 'supervised';
  }
}
