import { z } from 'zod';
import { ASKED_WITHIN, type AskedLately as Asked } from '#lib/approval/waiting-approvals';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { KeptArea, type Store } from '../store/room.ts';

/** Runs and programs whose questions are counted; the one whose last is the oldest goes first. */
export const MOST_KEPT = 10_000;

/** When people were asked, in milliseconds since the epoch, oldest first. */
const askedSchema = z.object({ at: z.array(z.number()) });

interface AskedLatelyDeps {
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often people were asked within the last hour, by run and by program, over restarts too (rule CA46). */
export class AskedLately {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #kept: KeptArea<z.infer<typeof askedSchema>>;
  /** By what is counted, that with the newest question last. */
  readonly #times = new Map<string, readonly number[]>();

  constructor({ store, clock, logger }: AskedLatelyDeps) {
    this.#clock = clock;
    this.#logger = logger;
    this.#kept = new KeptArea({ store, area: 'asked', schema: askedSchema, now: clock.now });
  }

  /** Takes up what an earlier server kept. Once, before anything is asked. */
  async load(): Promise<void> {
    const now = this.#clock.now();
    for (const { key, value } of await this.#kept.load()) {
      // Since the clock was set back they would count for longer than an hour.
      const past = value.at.map((at) => Math.min(at, now));
      this.#times.set(key, past);
    }
  }

  /** Gives the most questions of these, and the longest wait. */
  of(scopes: readonly string[]): Asked {
    const asked = scopes.map((scope) => this.#of(scope));
    return {
      count: Math.max(...asked.map(({ count }) => count)),
      nextInMs: Math.max(...asked.map(({ nextInMs }) => nextInMs)),
    };
  }

  /** Counts one more question. It is kept in the write of the call that follows, or before it. */
  count(scopes: readonly string[]): void {
    const now = this.#clock.now();
    const forgotten = this.#forget(now);
    const counted = scopes.map((key) => {
      // A question that is asked again is not refused (CA43).
      const at = [...this.#within(key, now), now].slice(-ASKED_WITHIN.most);
      this.#times.delete(key);
      this.#times.set(key, at);
      return { key, value: { at } };
    });
    this.#kept.change([...forgotten, ...counted]).catch(this.#logger.error);
  }

  #of(scope: string): Asked {
    const now = this.#clock.now();
    const at = this.#within(scope, now);
    const oldest = at.at(-ASKED_WITHIN.most);
    const nextInMs = oldest === undefined ? 0 : oldest + ASKED_WITHIN.ms - now;
    return { count: at.length, nextInMs };
  }

  #within(scope: string, now: number): readonly number[] {
    return (this.#times.get(scope) ?? []).filter((at) => at + ASKED_WITHIN.ms > now);
  }

  /** In the order of their newest questions, so that the first that counts is followed by such alone. */
  #forget(now: number): { key: string }[] {
    const forgotten = [];
    for (const [key, at] of this.#times) {
      const counts = (at.at(-1) ?? 0) + ASKED_WITHIN.ms > now;
      if (counts && this.#times.size < MOST_KEPT) break;
      this.#times.delete(key);
      forgotten.push({ key });
    }
    return forgotten;
  }
}
