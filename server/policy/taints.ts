import { z } from 'zod';
import type { Call } from '#lib/call/call';
import { isUntrustedResult } from '#lib/call/untrusted-result';
import { keepNewest } from '#lib/limits/keep-newest';
import { isTainted, type Marks, NO_TAINT, type Taint } from '#lib/policy/taint';
import { childRunOf, isDelegatingTool } from '#lib/protocol/child-run';
import { isTrusted } from '#lib/protocol/tool-source';
import type { Tokens } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { readRecent } from '../calls/room.ts';
import { KeptArea, type Store } from '../store/room.ts';

/** Runs that asked longest ago are derived from the store again. */
const MOST_RUNS = 1_000;

/** A run has read this itself or by its sub-agents; what the run that it works for has read counts too. */
interface Known {
  readonly own: Taint;
  readonly parentId: string | undefined;
}

type TaintStore = Pick<Store, 'write' | 'listCalls' | 'getRun'>;

interface Loading {
  readonly known: Promise<Known>;
  readonly taint: Promise<Taint>;
  /** These calls ended meanwhile. */
  readonly ended: Call[];
}

type TaintedCall = Pick<
  Call,
  | 'id'
  | 'toolName'
  | 'source'
  | 'trusted'
  | 'annotations'
  | 'completedAt'
  | 'error'
  | 'result'
  | 'lateResult'
  | 'granted'
  | 'preview'
  | 'card'
>;

/** Derives what runs have read from their recorded calls, so that no restart forgets it. */
export class RunTaints {
  readonly #store: TaintStore;
  readonly #known = new Map<string, Known>();
  readonly #loading = new Map<string, Loading>();
  #marks: Marks;

  constructor(store: TaintStore, marks: Marks) {
    this.#store = store;
    this.#marks = marks;
  }

  /** From now on these marks count, for what was read before as well. */
  setMarks(marks: Marks): void {
    this.#marks = marks;
    this.#known.clear();
    this.#loading.clear();
  }

  /** Without a promise where it is known. */
  of(runId: string): Taint | Promise<Taint> {
    const known = this.#known.get(runId);
    return known ? this.#whole(this.#keep(runId, known)) : this.#begin(runId).taint;
  }

  /** The same by other marks, which are tried; read from the store each time. */
  by(marks: Marks, runId: string): Taint | Promise<Taint> {
    return new RunTaints(this.#store, marks).of(runId);
  }

  /** Called for a call that may have ended, or shown something. */
  readonly ended = (call: Call): void => {
    const { runId } = call;
    const known = this.#known.get(runId);
    if (!known) return void this.#loading.get(runId)?.ended.push(call);
    if (!hasRead(call)) return;
    // A sub-agent's reads count there, and here from its end on.
    if (isDelegated(call) && call.completedAt === undefined) return;
    if (!isDelegated(call)) {
      this.#known.set(runId, { ...known, own: marksOf(this.#marks, known.own, call) });
      return;
    }
    // The store has what its sub-agent has read.
    this.#known.delete(runId);
    this.#begin(runId).ended.push(call);
  };

  #begin(runId: string): Loading {
    const running = this.#loading.get(runId);
    if (running) return running;
    const ended: Call[] = [];
    const known = this.#load(runId, ended);
    const loading = { known, taint: known.then((of) => this.#whole(of)), ended };
    this.#loading.set(runId, loading);
    loading.taint.catch(() => undefined); // Where nobody waits for it; who asks next reads it again.
    return loading;
  }

  #whole({ own, parentId }: Known): Taint | Promise<Taint> {
    if (parentId === undefined) return own;
    const above = this.of(parentId);
    return above instanceof Promise ? above.then((taint) => both(own, taint)) : both(own, above);
  }

  async #load(runId: string, ended: readonly Call[]): Promise<Known> {
    const marks = this.#marks;
    try {
      // Calls that ended before this may be on their way to the disk still.
      await this.#store.write([]);
      const parentId = (await this.#store.getRun(runId))?.parent?.run_id;
      let own = NO_TAINT;
      for await (const call of readRecent(this.#store, { runId, count: Number.MAX_SAFE_INTEGER })) {
        own = await this.#add(own, call);
        if (isTainted(own)) break;
      }
      for (const call of ended) own = await this.#add(own, call);
      if (marks === this.#marks) return this.#keep(runId, { own, parentId });
      return this.#known.get(runId) ?? (await this.#begin(runId).known);
    } finally {
      if (this.#loading.get(runId)?.ended === ended) this.#loading.delete(runId);
    }
  }

  /** A sub-agent's answer brings all that the sub-agent has read. */
  async #add(taint: Taint, call: TaintedCall): Promise<Taint> {
    if (!hasRead(call)) return taint;
    const added = marksOf(this.#marks, taint, call);
    if (!isDelegated(call)) return added;
    const childId = childRunOf(call.id);
    const { own } = this.#known.get(childId) ?? (await this.#begin(childId).known);
    return both(added, own);
  }

  #keep(runId: string, known: Known): Known {
    this.#known.delete(runId); // So that it is the newest.
    this.#known.set(runId, known);
    keepNewest(this.#known, MOST_RUNS);
    return known;
  }
}

/**
 * A call that was not made has read nothing; one whose outcome is unknown, or that was answered late,
 * may have. One that runs has, as soon as it shows something.
 */
const hasRead = (call: TaintedCall): boolean =>
  (call.completedAt !== undefined && call.error?.executed !== 'no') ||
  call.lateResult !== undefined ||
  (call.granted && hasShown(call));

/** In words that are not the server's: the tips of its own tools are. */
const hasShown = ({ preview, card, ...of }: TaintedCall): boolean =>
  (preview !== undefined && preview !== null) ||
  (!isTrusted(of) &&
    [card.tip, card.progress, card.status_params].some((one) => one !== undefined));

const isDelegated = ({ toolName, source }: TaintedCall): boolean =>
  source === 'server' && isDelegatingTool(toolName);

/** Gives the taint once the call's result has been read as well. */
const marksOf = (marks: Marks, taint: Taint, call: TaintedCall): Taint => {
  const { toolName, annotations } = call;
  return marks.add(taint, { toolName, isUntrusted: isUntrustedResult(call), annotations });
};

export const both = (one: Taint, other: Taint): Taint => ({
  private: one.private ?? other.private,
  untrusted: one.untrusted ?? other.untrusted,
});

/** A program's reads count for so long (rule PO27). */
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
  readonly tokens: Pick<Tokens, 'isProgram'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/**
 * Keeps what the holders of tokens have read within the last hour, in whichever runs: a program chooses the
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

  /** Called for a call that may have ended, or shown something. A program sees each call of its runs, also one that a person made there. */
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
