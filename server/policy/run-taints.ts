import type { Call } from '#lib/call/call';
import { isUntrustedResult } from '#lib/call/untrusted-result';
import { isTainted, type Marks, NO_TAINT, type Taint } from '#lib/policy/taint';
import { childRunOf, isDelegatingTool } from '#lib/protocol/child-run';
import { isTrusted } from '#lib/protocol/tool-source';
import { readRecent } from '../calls/room.ts';
import type { Store } from '../store/room.ts';

/** Those that asked longest ago are derived from the store again. */
const MOST_RUNS = 1_000;

/** What a run has read itself or by its sub-agents, and the run that it works for: of that, all counts too. */
interface Known {
  readonly own: Taint;
  readonly parentId: string | undefined;
}

type TaintStore = Pick<Store, 'write' | 'listCalls' | 'getRun'>;

interface Loading {
  readonly known: Promise<Known>;
  readonly taint: Promise<Taint>;
  /** What ended meanwhile. */
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

/** What runs have read, derived from their recorded calls, so that no restart forgets it. */
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

  /** Of a call that may have ended, or shown something. */
  readonly ended = (call: Call): void => {
    const { runId } = call;
    const known = this.#known.get(runId);
    if (!known) return void this.#loading.get(runId)?.ended.push(call);
    if (!hasRead(call)) return;
    // What its sub-agent reads counts there, and here from its end on.
    if (isDelegated(call) && call.completedAt === undefined) return;
    if (!isDelegated(call)) {
      this.#known.set(runId, { ...known, own: marksOf(this.#marks, known.own, call) });
      return;
    }
    // What its sub-agent has read is in the store.
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
      // What ended before this may be on its way to the disk still.
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
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_RUNS && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}

/**
 * A call that was not made has read nothing; one whose outcome is unknown, or that was answered late,
 * may have. One that runs has, as soon as it shows something.
 */
export const hasRead = (call: TaintedCall): boolean =>
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

/** What has been read, once the call's result has been as well. */
export const marksOf = (marks: Marks, taint: Taint, call: TaintedCall): Taint => {
  const { toolName, annotations } = call;
  return marks.add(taint, { toolName, isUntrusted: isUntrustedResult(call), annotations });
};

export const both = (one: Taint, other: Taint): Taint => ({
  private: one.private ?? other.private,
  untrusted: one.untrusted ?? other.untrusted,
});
