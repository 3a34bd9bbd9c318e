import { readJson } from '#lib/json/read-json';
import { type CallDraft, type CallReader, JsonExtent } from './call-events.ts';
import { inLowerCase, isClosingTag } from './call-tags.ts';

const LONGEST_TAG = 160;
const LONGEST_BLANK = 1_024;
const KEY_TAG =
  /^<(?:parameter\s*=\s*["']?([^"'<>]+?)["']?|parameter\s+name\s*=\s*["']([^"'<>]+)["'])\s*>$/i;
const OWN_TAG = /^<([A-Za-z_][\w.-]*)>$/;
const GLM_KEY = '<arg_key>';
const GLM_VALUE = '<arg_value>';

export interface MarkupCallOptions {
  readonly draft: CallDraft;
  readonly kindOf: (key: string) => ValueKind;
  /** The tag that ends the call, where it is the tool's own name; then each argument is a tag, too. */
  readonly toolTag: string | undefined;
}

/**
 * The body of a call whose tool is known: a JSON object, or arguments as tags, each
 * `<parameter=key>`, `<parameter name="key">`, `<key>` or `<arg_key>key</arg_key><arg_value>`.
 */
export class MarkupCall implements CallReader {
  rest = '';
  readonly #options: MarkupCallOptions;
  #extent: JsonExtent | undefined;
  #value: MarkupValue | undefined;
  #count = 0;
  #blank = 0;
  /** The key of GLM, between its tag and that of its value. */
  #key: string | undefined;

  constructor(options: MarkupCallOptions) {
    this.#options = options;
  }

  take(character: string): 'goes_on' | 'over' | 'over_before' {
    if (this.#extent) return this.#takeOfJson(this.#extent, character);
    if (this.#value) return this.#takeOfValue(this.#value, character);
    if (this.rest !== '') return this.#takeOfTag(character);
    if (this.#key !== undefined) return this.#takeOfKey(character);
    if (character === '<') {
      this.rest = '<';
      return 'goes_on';
    }
    if (/\s/.test(character) && this.#blank < LONGEST_BLANK) {
      this.#blank += 1;
      return 'goes_on';
    }
    if (character === '{' && this.#count === 0) {
      this.#extent = new JsonExtent();
      return this.#takeOfJson(this.#extent, character);
    }
    return this.#over(false, 'over_before');
  }

  end(): void {
    this.#over(false, 'over');
  }

  #takeOfJson(extent: JsonExtent, character: string): 'goes_on' | 'over' | 'over_before' {
    const { draft } = this.#options;
    const place = extent.take(character);
    if (place === 'broken') return this.#over(false, 'over_before');
    draft.write(character);
    if (place === 'inside') return 'goes_on';
    draft.end(true);
    return 'over';
  }

  #takeOfValue(value: MarkupValue, character: string): 'goes_on' | 'over_before' {
    const taken = value.take(character);
    if (taken === 'broken') return this.#over(false, 'over_before');
    if (taken === 'over') this.#value = undefined;
    return 'goes_on';
  }

  /** Of `<arg_key>`, up to the tag that ends it. */
  #takeOfKey(character: string): 'goes_on' | 'over_before' {
    if (character === '<') this.rest = '<';
    else this.#key += character;
    const isLong = (this.#key ?? '').length > LONGEST_TAG;
    return isLong ? this.#over(false, 'over_before') : 'goes_on';
  }

  #takeOfTag(character: string): 'goes_on' | 'over' | 'over_before' {
    const tag = this.rest + character;
    if (character === '<' || tag.length > LONGEST_TAG) return this.#over(false, 'over_before');
    this.rest = tag;
    if (character !== '>') return 'goes_on';
    this.rest = '';
    const key = this.#keyIn(tag);
    if (key !== undefined) return this.#startValue(key, endOfValue(tag));
    if (tag === GLM_KEY) this.#key = '';
    else if (tag === GLM_VALUE && this.#key !== undefined) {
      const name = this.#key.trim();
      this.#key = undefined;
      return this.#startValue(name, '</arg_value>');
    } else if (!(tag === '</arg_key>' && this.#key !== undefined)) return this.#endWith(tag);
    return 'goes_on';
  }

  #keyIn(tag: string): string | undefined {
    const [, assigned, named] = KEY_TAG.exec(tag) ?? [];
    const own = this.#options.toolTag === undefined ? undefined : OWN_TAG.exec(tag)?.[1];
    return assigned ?? named ?? own;
  }

  #startValue(key: string, end: string): 'goes_on' {
    const { draft, kindOf } = this.#options;
    draft.write(`${this.#count === 0 ? '{' : ','}${JSON.stringify(key)}:`);
    this.#count += 1;
    this.#blank = 0;
    this.#value = new MarkupValue({ draft, kind: kindOf(key), end });
    return 'goes_on';
  }

  #endWith(tag: string): 'over' | 'over_before' {
    const { toolTag } = this.#options;
    const isEnd = toolTag === undefined ? isClosingTag(tag) : tag === `</${toolTag}>`;
    if (isEnd && this.#key === undefined) return this.#over(true, 'over');
    this.rest = tag.slice(0, -1);
    return this.#over(false, 'over_before');
  }

  #over<T>(isComplete: boolean, how: T): T {
    const { draft } = this.#options;
    if (isComplete) draft.write(this.#count === 0 ? '{}' : '}');
    draft.end(isComplete);
    return how;
  }
}

const endOfValue = (tag: string): string =>
  inLowerCase(tag).startsWith('<parameter') ? '</parameter>' : `</${tag.slice(1)}`;

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
class MarkupValue {
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
