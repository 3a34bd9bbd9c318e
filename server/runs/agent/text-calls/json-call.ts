import { readJson } from '#lib/json/read-json';
import { LIMITS } from '#lib/protocol/limits';
import { type CallDraft, type CallReader, isBlank, JsonExtent } from './call-events.ts';
import { isClosingTag } from './call-tags.ts';

const NAMES = new Set(['name', 'tool', 'tool_name', 'function_name', 'function']);
const ARGUMENTS = new Set(['arguments', 'args', 'parameters', 'params', 'input']);
/** Hold the call itself when their value is an object. */
const WRAPPERS = new Set(['function', 'tool_call', 'function_call']);

const LONGEST_KEY = 64;
const LONGEST_NAME = 1_024;
const LONGEST_ENVELOPE = 64 * 1024;
const LONGEST_TAG = 24;

type Role = 'key' | 'name' | 'args' | 'args_text' | 'ignored';

/**
 * A call as a JSON object, from its `{`: `{"name": …, "arguments": {…}}`, in either order, with
 * the usual other words for both, also as the value of `function`. The arguments may be an object
 * or its text. They are passed on as they come; all around them is kept and parsed at the end, so
 * that an object that is not valid JSON runs nothing.
 */
export class JsonCall implements CallReader {
  readonly rest = '';
  readonly #draft: CallDraft;
  readonly #extent = new JsonExtent();
  /** The object without the value of the arguments, in whose place stands `0`. */
  #envelope = '';
  /** The depth at which name and arguments stand. */
  #level = 1;
  #role: Role = 'ignored';
  #isKey = true;
  /** Of the string that is being read: a key, a name, arguments as text. */
  #token = '';
  #key = '';
  #isBroken = false;
  #tag = '';
  #isClosedWithinString = false;

  constructor(draft: CallDraft) {
    this.#draft = draft;
  }

  take(character: string): 'goes_on' | 'over' | 'over_before' {
    const hasClosed = this.#followTags(character);
    if (this.#isBroken) return hasClosed ? this.#over(false) : 'goes_on';
    const { inString: wasInString, depth } = this.#extent;
    const place = this.#extent.take(character);
    if (place === 'broken') return this.#break(wasInString);
    if (wasInString !== this.#extent.inString) this.#isClosedWithinString = false;
    else if (wasInString && hasClosed) this.#isClosedWithinString = true;
    if (wasInString || this.#extent.inString) this.#takeOfString(character, wasInString);
    else this.#takeOfStructure(character, depth);
    return place === 'closed' ? this.#over(readJson(this.#envelope) !== undefined) : 'goes_on';
  }

  end(): void {
    this.#draft.end(false);
  }

  /** A string that is never closed may have run over the end of its call: then that end counts. */
  #break(wasInString: boolean): 'goes_on' | 'over' | 'over_before' {
    if (!wasInString) {
      this.#over(false);
      return 'over_before';
    }
    this.#isBroken = true;
    return this.#isClosedWithinString ? this.#over(false) : 'goes_on';
  }

  #over(isValid: boolean): 'over' {
    this.#draft.end(isValid);
    return 'over';
  }

  #takeOfString(character: string, wasInString: boolean): void {
    const isStart = !wasInString;
    const isEnd = wasInString && !this.#extent.inString;
    if (isStart && this.#extent.depth === this.#level) this.#startToken();
    if (this.#role === 'args') this.#draft.write(character);
    else {
      this.#envelop(character);
      const most = this.#role === 'args_text' ? 2 * LIMITS.argsBytes : LONGEST_NAME;
      if (this.#role !== 'ignored' && this.#token.length <= most) this.#token += character;
    }
    if (isEnd && this.#extent.depth === this.#level) this.#endToken();
  }

  #startToken(): void {
    this.#token = '';
    if (this.#isKey) this.#role = 'key';
    // Arguments that begin with a quote are the text of an object.
    else if (this.#role === 'args') this.#role = 'args_text';
  }

  #endToken(): void {
    const value = readJson(this.#token);
    const text = value === undefined ? undefined : String(value);
    if (this.#role === 'key')
      this.#key = text !== undefined && text.length <= LONGEST_KEY ? text : '';
    if (this.#role === 'name' && text !== undefined) this.#draft.begin(text);
    if (this.#role === 'args_text') this.#draft.write(text ?? '…');
    this.#role = 'ignored';
  }

  /** `depth` is the one before the character. */
  #takeOfStructure(character: string, depth: number): void {
    const isWithinArgs = this.#role === 'args' && depth > this.#level;
    if (isWithinArgs) {
      this.#draft.write(character);
      if (this.#extent.depth === this.#level) this.#role = 'ignored';
      return;
    }
    if (depth === this.#level && this.#role !== 'ignored' && this.#startValue(character)) return;
    this.#envelop(character);
    if (this.#extent.depth < this.#level) this.#level = Math.max(1, this.#extent.depth);
    if (depth !== this.#level) return;
    if (character === ':') this.#startRole();
    if (character === ',') this.#isKey = true;
  }

  #startRole(): void {
    this.#isKey = false;
    if (ARGUMENTS.has(this.#key)) this.#role = 'args';
    else this.#role = NAMES.has(this.#key) || WRAPPERS.has(this.#key) ? 'name' : 'ignored';
    if (this.#role === 'args') this.#envelop('0');
  }

  /** True when the character belongs to the arguments. */
  #startValue(character: string): boolean {
    if (isBlank(character) || character === ':') return false;
    const isContainer = character === '{' || character === '[';
    if (this.#role === 'args') {
      const isOver = character === ',' || character === '}';
      if (isOver) this.#role = 'ignored';
      else this.#draft.write(character);
      return !isOver;
    }
    if (this.#role === 'name' && isContainer) {
      if (character === '{' && WRAPPERS.has(this.#key)) {
        this.#level += 1;
        this.#isKey = true;
      }
      this.#role = 'ignored';
    }
    return false;
  }

  #envelop(text: string): void {
    if (this.#role === 'args_text') return;
    if (this.#envelope.length <= LONGEST_ENVELOPE) this.#envelope += text;
  }

  /** True when the character ends a closing tag, in a string or not. */
  #followTags(character: string): boolean {
    if (character === '<') this.#tag = '<';
    else if (this.#tag !== '' && this.#tag.length < LONGEST_TAG) this.#tag += character;
    else this.#tag = '';
    return character === '>' && isClosingTag(this.#tag);
  }
}
