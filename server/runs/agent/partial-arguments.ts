import { parsePartialJson } from 'ai';
import { isRecord } from '#lib/json/is-record';
import { readJson } from '#lib/json/parse-json';
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
  readonly #extent = new JsonExtent();
  #state: 'before' | 'within' | 'over' | 'broken' = 'before';
  #text = '';
  #length = 0;
  /** They were written since they were last shown, the one that is being written among them. */
  #pairs: Pair[] = [];
  #growing: Pair | undefined;
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
    this.examined += delta.length;
    this.#length += delta.length;
    if (this.#length > LIMITS.argsBytes) this.#state = 'broken';
    for (let at = 0; at < delta.length && this.#state !== 'broken'; at += 1) {
      this.#take(delta.charAt(at));
    }
    this.#text = this.#state === 'broken' ? '' : this.#text + delta;
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

  /** Sets the pairs of the object apart; whether each is valid is found out by parsing it. */
  #take(character: string): void {
    const { inString, depth } = this.#extent;
    if (this.#state === 'before') {
      if (character.trim() !== '') this.#state = character === '{' ? 'within' : 'broken';
      this.#extent.take(character);
      return;
    }
    if (this.#state === 'over') return;
    this.#extent.take(character);
    if (depth === 1 && !inString && (character === ',' || character === '}')) {
      this.#growing?.end();
      this.#growing = undefined;
      if (character === '}') this.#state = 'over';
      return;
    }
    // Some models write line breaks in strings as they are.
    const isControl = inString && character < ' ';
    this.#growing ??= this.#beginPair();
    this.#growing.take(isControl ? JSON.stringify(character).slice(1, -1) : character);
    if (this.#extent.depth >= LIMITS.jsonDepth) this.#state = 'broken';
  }

  #beginPair(): Pair {
    const pair = new Pair();
    this.#pairs.push(pair);
    return pair;
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
    // All that comes in one moment makes one update.
    await undefined;
    this.#hasChanged = false;
    const pairs = this.#pairs;
    const growing = this.#growing;
    this.#pairs = growing ? [growing] : [];
    const read: Read = (text) => this.#read(text);
    const shown: (Shown | undefined)[] = [];
    for (const pair of pairs) {
      const one = pair.shown(read);
      // There may be ten thousands, and few of them have to be waited for.
      shown.push(one instanceof Promise ? await one : one);
    }
    this.#isLooking = false;
    if (this.#isOver) return;
    this.#send(
      shown.filter((one) => one !== undefined),
      growing !== undefined,
    );
    this.#consider();
  }

  async #read(text: string): Promise<unknown> {
    this.examined += text.length;
    return (await parsePartialJson(text)).value;
  }

  #send(shown: readonly Shown[], isGrowing: boolean): void {
    const sent = this.#sentGrowing;
    const changed = shown
      .map(([key, value]) => ({ key, value, json: JSON.stringify(value) }))
      .filter(({ key, json }) => key !== sent?.key || json !== sent.json);
    const last = changed.at(-1);
    if (!last) return;
    if (isGrowing) this.#sentGrowing = last;
    const bytes = changed.reduce((sum, one) => sum + one.key.length + one.json.length, 0);
    const pauseMs = Math.min(INTERVAL_MS + Math.max(0, bytes - SMALL_BYTES), LONGEST_PAUSE_MS);
    this.#nextAt = this.#deps.clock.now() + pauseMs;
    const values = Object.fromEntries(changed.map(({ key, value }) => [key, value]));
    this.#deps.send(values, this.#wholeNow());
  }

  #wholeNow(): ReadWhole | undefined {
    const { length } = this.#text;
    if (length < this.#nextWholeAt) return undefined;
    this.#nextWholeAt = length <= WHOLE_EACH_TIME_CHARS ? 0 : length * 1.25;
    // A character outside of the base plane may be there by half.
    const text = this.#text.replace(/(?:\\u[dD][89abAB][\da-fA-F]{2}|[\ud800-\udbff])$/, '');
    return async () => {
      const value = await this.#read(text);
      return isRecord(value) ? value : undefined;
    };
  }
}

/** Characters of a value that are shown: as many as a card has room for. */
const SHOWN_CHARS = 400;
/** No character has more of them in JSON. */
const TAIL_CHARS = 6 * SHOWN_CHARS;
/** Lists, objects and numbers up to here are shown as what they are, longer ones as the end of their text. */
const WHOLE_CHARS = 1_000;

type Read = (text: string) => Promise<unknown>;

/** A key and its value as JSON text; of a long one beginning and end, so that what is kept is bounded. */
class Pair {
  /** All of it, or the end of a long one. */
  #text = '';
  #end = '';
  /** The beginning of a long one. */
  #start: string | undefined;
  #first: Shown | undefined;

  take(text: string): void {
    this.#text += text;
    if (this.#text.length < 2 * TAIL_CHARS) return;
    // Cut in slices: a cut per character would copy the whole each time.
    this.#start ??= this.#text.slice(0, WHOLE_CHARS);
    this.#text = this.#text.slice(-TAIL_CHARS);
  }

  /** A number may be whole only now. */
  end(): void {
    this.#end = '}';
  }

  /** Undefined where there is no value yet, or none that is JSON. One that is over is read at once. */
  shown(read: Read): Shown | undefined | Promise<Shown | undefined> {
    if (this.#start !== undefined) return this.#shownEnd(this.#start, read);
    const json = `{${this.#text}${this.#end}`;
    if (this.#end !== '') return this.#shownOf(readJson(json));
    return read(json).then((object) => this.#shownOf(object));
  }

  #shownOf(object: unknown): Shown | undefined {
    const [key, value] = firstIn(object) ?? [];
    if (key === undefined) return undefined;
    if (typeof value === 'string') return [key, endOf(value)];
    return [key, this.#text.length <= WHOLE_CHARS ? value : endOf(this.#text)];
  }

  async #shownEnd(start: string, read: Read): Promise<Shown | undefined> {
    this.#first ??= firstIn(await read(`{${start}`));
    if (!this.#first) return undefined;
    const [key, value] = this.#first;
    const tail = this.#text.slice(-TAIL_CHARS);
    if (typeof value !== 'string') return [key, endOf(tail, true)];
    // It may begin within an escape, whose rest is too far from the end to be shown.
    const text = await read(`"${tail.replace(/^[\\"]+/, '')}`);
    return [key, endOf(typeof text === 'string' ? text : '', true)];
  }
}

const firstIn = (object: unknown): Shown | undefined =>
  isRecord(object) ? Object.entries(object)[0] : undefined;

/** The end of a text, so marked when its beginning is missing, without half of a character that is cut or still to come. */
function endOf(text: string, isCut = text.length > SHOWN_CHARS): string {
  const end = isCut ? `…${text.slice(-SHOWN_CHARS)}` : text;
  return end.replace(/(?<=^…?)[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
