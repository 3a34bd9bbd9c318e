import { z } from 'zod';
import type { Call } from '#lib/call/call';
import { type Marks, NO_TAINT, type Taint } from '#lib/policy/taint';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { KeptArea, type Store } from '../store/room.ts';
import type { PolicyTokens } from './policy-tokens.ts';
import { hasRead, marksOf } from './run-taints.ts';

/** What a program has read counts for so long (rule PO27). */
const READ_WITHIN_MS = 60 * 60 * 1_000;

/** A call that runs shows something many times a second: what is as new is not written again. */
const ANEW_EACH_MS = 60_000;

/** Tokens whose reads are kept; the one that has read nothing for longest goes first. */
const MOST_TOKENS = 10_000;

const readSchema = z.object({ tool: z.string(), at: z.number() }).nullable();
const keptSchema = z.object({ private: readSchema, untrusted: readSchema });
type Reads = z.infer<typeof keptSchema>;
type Read = Reads['private'];

export interface TokenReadsDeps {
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly tokens: Pick<PolicyTokens, 'isProgram'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/**
 * What the holders of tokens have read within the last hour, in whichever runs: a program chooses the
 * ids of the runs in which it calls, so that one run does not show what it knows. Kept over restarts.
 */
export class TokenReads {
  readonly #deps: TokenReadsDeps;
  readonly #kept: KeptArea<Reads>;
  /** By token, that with the newest read last. */
  readonly #reads = new Map<string, Reads>();

  constructor(deps: TokenReadsDeps) {
    this.#deps = deps;
    const { store, clock } = deps;
    this.#kept = new KeptArea({ store, area: 'reads', schema: keptSchema, now: clock.now });
  }

  /** Takes up what an earlier server kept. Once, before anything is asked. */
  async load(): Promise<void> {
    const now = this.#deps.clock.now();
    // Since the clock was set back they would count for longer than an hour.
    const past = (read: Read): Read => read && { ...read, at: Math.min(read.at, now) };
    for (const { key, value } of await this.#kept.load()) {
      this.#reads.set(key, { private: past(value.private), untrusted: past(value.untrusted) });
    }
  }

  of(tokenId: string): Taint {
    const reads = this.#reads.get(tokenId);
    if (!reads) return NO_TAINT;
    const now = this.#deps.clock.now();
    const lately = (read: Read) => (read && read.at + READ_WITHIN_MS > now ? read.tool : null);
    return { private: lately(reads.private), untrusted: lately(reads.untrusted) };
  }

  /** Of a call that may have ended, or shown something. A program sees each call of its runs, also one that a person made there. */
  ended(call: Call, marks: Marks): void {
    const { ownerToken } = call;
    if (ownerToken === null || !hasRead(call) || !this.#deps.tokens.isProgram(ownerToken)) return;
    const read = marksOf(marks, NO_TAINT, call);
    if (read.private === null && read.untrusted === null) return;
    const at = this.#deps.clock.now();
    const before = this.#reads.get(ownerToken) ?? { private: null, untrusted: null };
    const isNew = (last: Read): boolean => last !== null && last.at + ANEW_EACH_MS > at;
    const isKnown =
      (read.private === null || isNew(before.private)) &&
      (read.untrusted === null || isNew(before.untrusted));
    if (call.completedAt === undefined && isKnown) return;
    const readNow = (tool: string | null): Read => (tool === null ? null : { tool, at });
    const after = {
      private: readNow(read.private) ?? before.private,
      untrusted: readNow(read.untrusted) ?? before.untrusted,
    };
    this.#reads.delete(ownerToken); // So that it is the newest.
    this.#reads.set(ownerToken, after);
    const forgotten = this.#forget(at);
    this.#kept
      .change([...forgotten, { key: ownerToken, value: after }])
      .catch(this.#deps.logger.error);
  }

  /** In the order of their newest reads, so that the first that counts is followed by such alone. */
  #forget(now: number): { key: string }[] {
    const forgotten = [];
    for (const [key, reads] of this.#reads) {
      const newest = Math.max(reads.private?.at ?? 0, reads.untrusted?.at ?? 0);
      if (newest + READ_WITHIN_MS > now && this.#reads.size <= MOST_TOKENS) break;
      this.#reads.delete(key);
      forgotten.push({ key });
    }
    return forgotten;
  }
}
