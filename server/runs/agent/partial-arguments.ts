import { parsePartialJson } from 'ai';
import { isRecord } from '#lib/json/is-record';
import { LIMITS } from '#lib/protocol/limits';
import type { Clock } from '../../base/clock.ts';
import { JsonExtent } from './text-calls/json-extent.ts';

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

/** Longer arguments are read by the tool again once they have grown by a quarter, so that its work stays linear. */
const WHOLE_EACH_TIME_CHARS = 4_096;
/** So many characters are read in less than a tenth of a millisecond: the pause grows with the text. */
const CHARS_OF_A_MS = 1_000;
/** Each costs as much as a hundred characters; arguments with more are shown when they are complete. */
const MOST_KEYS = 4_000;
/** Longer texts, of all calls that are written at once, are read one after the other. */
const ALONE_CHARS = 8_192;
/** The pause before another long text is read is some three times as long as the reading takes at worst. */
const ALONE_CHARS_OF_A_MS = 5_000;
/** By each clock, the moment from which on a long text may be read. */
const mayReadLongAt = new WeakMap<Clock, number>();
/** A character outside of the base plane may be there by half. */
const HALF_CHARACTER = /(?:\\u[dD][89abAB][\da-fA-F]{2}|[\ud800-\udbff])$/;

/**
 * Turns argument text that grows letter by letter into updates of those
 * top-level keys that changed (rules AL20 to AL24). A card is a preview: of a
 * long value it shows the end, where the writing goes on, and the whole
 * arguments follow when they are complete. All that came is read for each update, and
 * no text stands still for longer than the longest pause.
 */
export class PartialArguments {
  readonly #deps: PartialArgumentsDeps;
  readonly #extent = new JsonExtent();
  #state: 'before' | 'within' | 'over' | 'broken' = 'before';
  #text = '';
  #length = 0;
  #keys = 0;
  /** What was last sent of each key, as JSON. */
  readonly #sent = new Map<string, string>();
  /** Characters from which on the tool reads the whole again. */
  #nextWholeAt = 0;
  #nextAt = 0;
  #hasChanged = false;
  #isLooking = false;
  #hasEnded = false;
  #cancelTimer: (() => void) | undefined;

  constructor(deps: PartialArgumentsDeps) {
    this.#deps = deps;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** More of the argument text, as the model writes it. */
  push(delta: string): void {
    if (delta === '' || this.#hasEnded) return;
    this.#hasChanged = true;
    this.#length += delta.length;
    if (this.#length > LIMITS.argsBytes) this.#state = 'broken';
    let taken = '';
    for (let at = 0; at < delta.length && this.#state !== 'broken'; at += 1) {
      taken += this.#take(delta.charAt(at));
    }
    this.#text = this.#state === 'broken' ? '' : this.#text + taken;
    this.#consider();
  }

  /** Nothing is sent after this. */
  end(): void {
    this.#hasEnded = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.#state === 'broken';
  }

  /** Gives what of the object the character is. */
  #take(character: string): string {
    const { inString } = this.#extent;
    if (this.#state === 'before' && character.trim() !== '')
      this.#state = character === '{' ? 'within' : 'broken';
    if (this.#state !== 'within') return '';
    if (this.#extent.take(character) === 'closed') this.#state = 'over';
    if (!inString && character === ':') this.#keys += 1;
    if (this.#extent.depth >= LIMITS.jsonDepth || this.#keys > MOST_KEYS) this.#state = 'broken';
    // Some models write line breaks in strings as they are.
    return inString && character < ' ' ? JSON.stringify(character).slice(1, -1) : character;
  }

  #consider(): void {
    if (this.#isOver || this.#isLooking || this.#cancelTimer || !this.#hasChanged) return;
    const { clock } = this.#deps;
    const { length } = this.#text;
    const isLong = length > ALONE_CHARS;
    const now = clock.now();
    const at = Math.max(this.#nextAt, (isLong && mayReadLongAt.get(clock)) || 0);
    if (at <= now) {
      if (isLong) mayReadLongAt.set(clock, now + length / ALONE_CHARS_OF_A_MS);
      return void this.#look();
    }
    this.#cancelTimer = clock.schedule(at - now, () => {
      this.#cancelTimer = undefined;
      // Another call may have been quicker.
      this.#consider();
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    // All that comes in one moment makes one update.
    await undefined;
    this.#hasChanged = false;
    const { value } = await parsePartialJson(this.#text.replace(HALF_CHARACTER, ''));
    this.#isLooking = false;
    if (this.#isOver) return;
    this.#send(isRecord(value) ? value : {});
    this.#consider();
  }

  #send(whole: Record<string, unknown>): void {
    const changed: Record<string, unknown> = {};
    let bytes = 0;
    for (const [key, value] of Object.entries(whole)) {
      const shown = shownOf(value);
      const json = JSON.stringify(shown);
      if (this.#sent.get(key) === json) continue;
      this.#sent.set(key, json);
      changed[key] = shown;
      bytes += key.length + json.length;
    }
    const reading = Math.floor(this.#text.length / CHARS_OF_A_MS);
    const more = Math.max(0, bytes - SMALL_BYTES, reading);
    this.#nextAt = this.#deps.clock.now() + Math.min(INTERVAL_MS + more, LONGEST_PAUSE_MS);
    if (bytes > 0) this.#deps.send(changed, this.#wholeNow(whole));
  }

  #wholeNow(whole: Record<string, unknown>): ReadWhole | undefined {
    const { length } = this.#text;
    if (length < this.#nextWholeAt) return undefined;
    this.#nextWholeAt = length <= WHOLE_EACH_TIME_CHARS ? 0 : length * 1.25;
    return async () => whole;
  }
}

/** Characters of a value that are shown: as many as a card has room for. */
const SHOWN_CHARS = 400;
/** Lists, objects and numbers up to here are shown as what they are, longer ones as the end of their text. */
const WHOLE_CHARS = 1_000;

function shownOf(value: unknown): unknown {
  if (typeof value === 'string') return endOf(value);
  const json = JSON.stringify(value);
  return json.length <= WHOLE_CHARS ? value : endOf(json);
}

/** The end of a text, so marked when its beginning is missing, without half of a character that is cut or still to come. */
function endOf(text: string): string {
  const end = text.length > SHOWN_CHARS ? `…${text.slice(-SHOWN_CHARS)}` : text;
  return end.replace(/(?<=^…?)[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
