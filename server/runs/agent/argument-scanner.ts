import { readJson } from '#lib/json/parse-json';
import { LIMITS } from '#lib/protocol/limits';
import { JsonExtent } from './text-calls/json-extent.ts';

/** Characters of a value that are shown: as many as a card has room for. */
const SHOWN_CHARS = 400;
/** Lists, objects and numbers up to here are shown as what they are, longer ones as the end of their text. */
const WHOLE_CHARS = 1_000;

/** A value that is still being written. */
export type Growing =
  | { readonly key: string; readonly shown: unknown }
  /** Of a list or an object the JSON text so far, without its end. */
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
