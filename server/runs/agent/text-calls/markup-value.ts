import { readJson } from '#lib/json/read-json';
import type { CallDraft } from './call-events.ts';
import { JsonExtent } from './json-extent.ts';

/** `string`: the text is the value. `other`: it is JSON where it can be read as such. */
export type ValueKind = 'string' | 'other';

/** A number or a word such as `true`; what is longer is text. */
const LONGEST_SCALAR = 64;

/** As some models write them. */
const PYTHON: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

/**
 * The text of one argument between its tags, written to the draft as JSON while it comes. A line
 * break after the first tag and one before the last do not belong to it.
 */
export class MarkupValue {
  readonly #draft: CallDraft;
  readonly #end: string;
  readonly #kind: ValueKind;
  /** What may be the end tag, with the line break before it. */
  #held = '';
  #scalar = '';
  #mode: 'first' | 'scalar' | 'string' | 'json' | 'after_json' = 'first';
  #extent = new JsonExtent();
  #isStart = true;

  constructor(options: { draft: CallDraft; kind: ValueKind; end: string }) {
    this.#draft = options.draft;
    this.#kind = options.kind;
    this.#end = options.end;
  }

  take(character: string): 'goes_on' | 'over' | 'broken' {
    // Within strings of JSON nothing is the end.
    if (this.#mode === 'json' && this.#extent.inString) return this.#takeOne(character);
    const held = this.#held + character;
    const tag = held.startsWith('\n') ? held.slice(1) : held;
    if (tag === this.#end) return this.#finish();
    if (this.#end.startsWith(tag)) {
      this.#held = held;
      return 'goes_on';
    }
    if (this.#held === '') return this.#takeOne(character);
    this.#held = '';
    // Only its first character is surely no part of the end.
    if (this.#takeOne(held.slice(0, 1)) === 'broken') return 'broken';
    for (const one of held.slice(1)) if (this.take(one) === 'broken') return 'broken';
    return 'goes_on';
  }

  #takeOne(character: string): 'goes_on' | 'broken' {
    const isStart = this.#isStart;
    this.#isStart = false;
    if (isStart && character === '\n') return 'goes_on';
    if (this.#mode === 'first') this.#choose(character);
    switch (this.#mode) {
      case 'first':
        break;
      case 'scalar':
        this.#scalar += character;
        if (this.#scalar.length > LONGEST_SCALAR) this.#startString(this.#scalar);
        break;
      case 'string':
        this.#draft.write(quoted(character));
        break;
      case 'json': {
        const place = this.#extent.take(character);
        if (place === 'broken') return 'broken';
        this.#draft.write(character);
        if (place === 'closed') this.#mode = 'after_json';
        break;
      }
      case 'after_json':
        if (!/\s/.test(character)) return 'broken';
    }
    return 'goes_on';
  }

  #choose(character: string): void {
    if (this.#kind === 'string') this.#startString('');
    else if (character === '{' || character === '[') this.#mode = 'json';
    else if (!/\s/.test(character)) this.#mode = 'scalar';
  }

  #startString(text: string): void {
    this.#mode = 'string';
    this.#draft.write(`"${quoted(text)}`);
  }

  #finish(): 'over' | 'broken' {
    if (this.#mode === 'json') return 'broken';
    if (this.#mode === 'first') this.#draft.write('""');
    if (this.#mode === 'scalar') this.#draft.write(scalarJson(this.#scalar.trim()));
    if (this.#mode === 'string') this.#draft.write('"');
    return 'over';
  }
}

/** Without the quotes around it. Half a character stays half: the other half is quoted alone, too. */
const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);

function scalarJson(text: string): string {
  const json = PYTHON[text] ?? text;
  return readJson(json) === undefined ? JSON.stringify(text) : json;
}
