import type { CallDraft, CallReader } from './call-events.ts';
import { inLowerCase, isClosingTag } from './call-tags.ts';
import { JsonExtent } from './json-extent.ts';
import { MarkupValue, type ValueKind } from './markup-value.ts';

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
