import { parsePartialJson } from 'ai';
import { isRecord } from '#lib/json/is-record';
import type { Clock } from '../../base/clock.ts';
import { createArgumentScanner, type Growing } from './argument-scanner.ts';

/** Milliseconds between two updates: at most 20 a second (AL21). */
const INTERVAL_MS = 50;
/** After a large update the pause is longer, so that a call sends a few kB a second at most. */
const SMALL_BYTES = 200;
const LONGEST_PAUSE_MS = 200;

/** Reads all that is written so far, uncut. Undefined where it is no object yet. */
type ReadWhole = () => Promise<Record<string, unknown> | undefined>;

interface PartialArgumentsDeps {
  readonly clock: Clock;
  /** `whole` is not given with each update of long arguments: reading all of them again is work. */
  readonly send: (params: Record<string, unknown>, whole: ReadWhole | undefined) => void;
}

/** Longer arguments are read whole again once they have grown by a quarter, so that work stays linear. */
const WHOLE_EACH_TIME_CHARS = 4_096;

type Shown = readonly [key: string, value: unknown];

/**
 * Turns argument text that grows letter by letter into updates of those
 * top-level keys that changed (rules AL20 to AL24). A card is a preview: of a
 * long value it shows the end, where the writing goes on, and the whole
 * arguments follow when they are complete. So work is linear in the text, and
 * no text stands still for longer than the longest pause.
 */
export class PartialArguments {
  readonly #deps: PartialArgumentsDeps;
  readonly #scanner = createArgumentScanner();
  #text = '';
  /** Characters from which on the whole is read again. */
  #nextWholeAt = 0;
  /** The value that was being written when it was last sent, as JSON. */
  #sentGrowing: { readonly key: string; readonly json: string } | undefined;
  #nextAt = 0;
  #hasChanged = false;
  #isLooking = false;
  #hasEnded = false;
  #cancelTimer: (() => void) | undefined;
  /** Characters looked at so far, each as often as it was; for the rule on work (AL22). */
  examined = 0;
  isEmpty = true;

  constructor(deps: PartialArgumentsDeps) {
    this.#deps = deps;
  }

  /** More of the argument text, as the model writes it. */
  push(delta: string): void {
    if (delta === '' || this.#hasEnded) return;
    this.isEmpty = false;
    this.#hasChanged = true;
    this.examined += delta.length;
    this.#scanner.push(delta);
    this.#text = this.#scanner.isBroken ? '' : this.#text + delta;
    this.#consider();
  }

  /** Nothing is sent after this. */
  end(): void {
    this.#hasEnded = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.#scanner.isBroken;
  }

  #consider(): void {
    if (this.#isOver || this.#isLooking || this.#cancelTimer || !this.#hasChanged) return;
    const waitMs = this.#nextAt - this.#deps.clock.now();
    if (waitMs <= 0) return void this.#look();
    this.#cancelTimer = this.#deps.clock.schedule(waitMs, () => {
      this.#cancelTimer = undefined;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    // What comes in one moment makes one update.
    await undefined;
    this.#hasChanged = false;
    const { finished, growing } = this.#scanner.take();
    const shown = growing && (await this.#readGrowing(growing));
    this.#isLooking = false;
    if (this.#isOver) return;
    this.#send(finished, shown);
    this.#consider();
  }

  async #readGrowing(growing: Growing): Promise<Shown> {
    if ('shown' in growing) return [growing.key, growing.shown];
    this.examined += growing.json.length;
    return [growing.key, (await parsePartialJson(growing.json)).value];
  }

  #send(finished: readonly Shown[], growing: Shown | undefined): void {
    const sent = this.#sentGrowing;
    const changed = [...finished, ...(growing ? [growing] : [])]
      .map(([key, value]) => ({ key, value, json: JSON.stringify(value) }))
      .filter(({ value }) => value !== undefined)
      .filter(({ key, json }) => key !== sent?.key || json !== sent.json);
    const last = changed.at(-1);
    if (!last) return;
    if (growing) this.#sentGrowing = last;
    const bytes = changed.reduce((sum, one) => sum + one.key.length + one.json.length, 0);
    const pauseMs = Math.min(INTERVAL_MS + Math.max(0, bytes - SMALL_BYTES), LONGEST_PAUSE_MS);
    this.#nextAt = this.#deps.clock.now() + pauseMs;
    const shown = Object.fromEntries(changed.map(({ key, value }) => [key, value]));
    this.#deps.send(shown, this.#wholeNow());
  }

  #wholeNow(): ReadWhole | undefined {
    const { length } = this.#text;
    if (length < this.#nextWholeAt) return undefined;
    this.#nextWholeAt = length <= WHOLE_EACH_TIME_CHARS ? 0 : length * 1.25;
    // A character outside of the base plane may be there by half.
    const text = this.#text.replace(/(?:\\u[dD][89abAB][\da-fA-F]{2}|[\ud800-\udbff])$/, '');
    return async () => {
      this.examined += text.length;
      const { value } = await parsePartialJson(text);
      return isRecord(value) ? value : undefined;
    };
  }
}
