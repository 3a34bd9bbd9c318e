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
    // All that comes in one moment makes one update.
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

/** Characters of a value that are shown: as many as a card has room for. */
const SHOWN_CHARS = 400;
/** Lists, objects and numbers up to here are shown as what they are, longer ones as the end of their text. */
const WHOLE_CHARS = 1_000;

/** A value that is still being written. */
export type Growing =
  | { readonly key: string; readonly shown: unknown }
  /** It is the JSON text of a list or an object so far, without its end. */
  | { readonly key: string; readonly json: string };

interface Reader {
  /** Takes one character; says when the value is over, with this character or before it. */
  take(character: string): 'goes_on' | 'ends' | 'ended_before' | 'breaks';
  finished(): unknown;
  growing(): { readonly shown: unknown } | { readonly json: string };
}

type Step =
  | 'start'
  | 'before_key'
  | 'key'
  | 'colon'
  | 'before_value'
  | 'value'
  | 'after_value'
  | 'over'
  | 'broken';

/**
 * Reads argument text as it comes, each character once, and keeps of each value
 * only what may be shown of it: so the work is linear in the text, and what is
 * shown of a value is bounded however long it is. `LIMITS` bound the text. `take`
 * gives the values that were completed since the last time, and the one that is
 * being written; `isBroken` says that the text is not a JSON object, or larger or
 * deeper than arguments may be.
 */
export function createArgumentScanner() {
  let step: Step = 'start';
  let length = 0;
  let key = createTextReader();
  let value: Reader = key;
  let finished: [string, unknown][] = [];

  const steps: Record<Step, (character: string) => Step> = {
    start: (character) =>
      isBlank(character) ? 'start' : character === '{' ? 'before_key' : 'broken',
    before_key(character) {
      if (isBlank(character)) return 'before_key';
      if (character === '}') return 'over';
      key = createTextReader();
      return character === '"' ? 'key' : 'broken';
    },
    key(character) {
      if (key.take(character) === 'goes_on') return 'key';
      return key.isCut() ? 'broken' : 'colon';
    },
    colon: (character) =>
      isBlank(character) ? 'colon' : character === ':' ? 'before_value' : 'broken',
    before_value(character) {
      if (isBlank(character)) return 'before_value';
      value = character === '"' ? createTextReader() : createJsonReader();
      if (character !== '"') value.take(character);
      return 'value';
    },
    value(character) {
      const taken = value.take(character);
      if (taken === 'goes_on') return 'value';
      if (taken === 'breaks') return 'broken';
      finished.push([key.text(), value.finished()]);
      return taken === 'ends' ? 'after_value' : afterValue(character);
    },
    after_value: afterValue,
    over: () => 'over',
    broken: () => 'broken',
  };

  return {
    push(text: string): void {
      length += text.length;
      if (length > LIMITS.argsBytes) step = 'broken';
      for (let at = 0; at < text.length && step !== 'broken'; at += 1) {
        step = steps[step](text.charAt(at));
      }
    },
    take(): { readonly finished: readonly [key: string, shown: unknown][]; growing?: Growing } {
      const taken = finished;
      finished = [];
      return step === 'value'
        ? { finished: taken, growing: { key: key.text(), ...value.growing() } }
        : { finished: taken };
    },
    get isBroken(): boolean {
      return step === 'broken';
    },
  };
}

function afterValue(character: string): Step {
  if (isBlank(character)) return 'after_value';
  if (character === ',') return 'before_key';
  return character === '}' ? 'over' : 'broken';
}

const isBlank = (character: string): boolean => ' \t\n\r'.includes(character);

/** The end of a text, so marked when its beginning is missing. */
const endOf = (text: string, total: number): string =>
  total > SHOWN_CHARS ? `…${text.slice(-SHOWN_CHARS)}` : text;

/** The inside of a JSON string. Starts behind its opening quote. */
function createTextReader() {
  let escaped = '';
  let kept = '';
  let total = 0;

  const add = (character: string) => {
    total += 1;
    // Cut in slices: a cut per character would copy the whole each time.
    kept = (kept.length >= 2 * SHOWN_CHARS ? kept.slice(-SHOWN_CHARS) : kept) + character;
  };
  // Half of a surrogate pair, at a cut or where the other half is still to come.
  const text = () => endOf(kept, total).replace(/(?<=^…?)[\udc00-\udfff]|[\ud800-\udbff]$/g, '');

  return {
    take(character: string) {
      if (escaped !== '') {
        escaped += character;
        if (escaped[1] === 'u' && escaped.length < 6) return 'goes_on';
        add(unescaped(escaped));
        escaped = '';
      } else if (character === '\\') escaped = character;
      else if (character === '"') return 'ends';
      else add(character);
      return 'goes_on';
    },
    text,
    isCut: () => total > SHOWN_CHARS,
    finished: text,
    growing: () => ({ shown: text() }),
  } satisfies Reader & { text(): string; isCut(): boolean };
}

const unescaped = (escaped: string): string => String(readJson(`"${escaped}"`) ?? '\ufffd');

/** Any value but a string. It ends before the comma or brace that follows it. */
function createJsonReader(): Reader {
  let kept = '';
  let total = 0;
  const extent = new JsonExtent();

  const isOver = (character: string) =>
    !extent.inString && extent.depth === 0 && (character === ',' || character === '}');

  return {
    take(character) {
      if (isOver(character)) return 'ended_before';
      extent.take(character);
      if (extent.depth < 0 || extent.depth >= LIMITS.jsonDepth) return 'breaks';
      total += 1;
      kept = (kept.length >= 2 * WHOLE_CHARS ? kept.slice(-WHOLE_CHARS) : kept) + character;
      return 'goes_on';
    },
    finished: () => (total > WHOLE_CHARS ? endOf(kept, total) : readJson(kept)),
    growing: () => (total > WHOLE_CHARS ? { shown: endOf(kept, total) } : { json: kept }),
  };
}
