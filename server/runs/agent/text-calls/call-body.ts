import { isRecord } from '#lib/json/is-record';
import { readJson } from '#lib/json/parse-json';
import { LIMITS } from '#lib/protocol/limits';
import { NAMELESS } from '../mend-calls.ts';
import { inLowerCase, isClosingTag } from './call-tags.ts';
import { JsonExtent } from './json-extent.ts';
/** The parser reads these from a model's text, in the order in which it was written. */
export type TextEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'start'; readonly name: string }
  /** The text is a piece of the JSON of the arguments. */
  | { readonly type: 'args'; readonly text: string }
  /** `input` is the whole JSON text; that of a malformed or cut call is never valid JSON. */
  | { readonly type: 'end'; readonly input: string };

/** A reader suspends where the text that came so far ends, and goes on with the next piece. */
export type Reading<Result = void> = Generator<undefined, Result, undefined>;
type Write = (text: string) => void;

export const isBlank = (character: string): boolean => /\s/.test(character);

/** The text of a model as it comes, by code units: a character that is cut in two reads the same. */
export class TextInput {
  /** The text from `#base` on; what stands before `#settled` is never read again. */
  #text = '';
  #base = 0;
  #settled = 0;
  #isOver = false;
  at = 0;

  push(text: string, isOver: boolean): void {
    this.#text = this.#text.slice(this.#settled - this.#base) + text;
    this.#base = this.#settled;
    this.#isOver = isOver;
  }

  /** The text that was read so far need not be kept. */
  settle(): void {
    this.#settled = this.at;
  }

  textFrom(start: number): string {
    return this.#text.slice(start - this.#base, this.at - this.#base);
  }

  /** The next character; empty where the text is at its end. */
  *peek(): Reading<string> {
    while (this.at >= this.#base + this.#text.length && !this.#isOver) yield;
    return this.#text.charAt(this.at - this.#base);
  }

  *next(): Reading<string> {
    const character = yield* this.peek();
    if (character !== '') this.at += 1;
    return character;
  }

  /** Reads over these words where they follow, in any case of ASCII. */
  *follows(words: string): Reading<boolean> {
    const start = this.at;
    for (const expected of words) {
      if (inLowerCase(yield* this.next()) === inLowerCase(expected)) continue;
      this.at = start;
      return false;
    }
    return true;
  }
}

/** Arguments are kept to twice their limit, so that the call service refuses them in its own words. */
const MOST_ARGS_CHARS = 2 * LIMITS.argsBytes;

/** One call while it is read. */
export class CallDraft {
  readonly #add: (event: TextEvent) => void;
  #args = '';
  #isNamed = false;

  constructor(add: (event: TextEvent) => void) {
    this.#add = add;
  }

  begin(name: string): void {
    if (!this.#isNamed) this.#add({ type: 'start', name });
    this.#isNamed = true;
  }

  write(text: string): void {
    const isKept = this.#args.length <= MOST_ARGS_CHARS;
    this.#args += isKept ? text : '';
    if (isKept && this.#args.length <= MOST_ARGS_CHARS) this.#add({ type: 'args', text });
  }

  end(isWhole: boolean): void {
    this.begin(NAMELESS);
    const isKept = isWhole && this.#args.length <= MOST_ARGS_CHARS;
    this.#add({
      type: 'end',
      input: isKept ? this.#args : `${this.#args.slice(0, MOST_ARGS_CHARS)}…`,
    });
  }
}

const NAMES = ['name', 'tool', 'tool_name', 'function_name', 'function'];
const ARGUMENTS = ['arguments', 'args', 'parameters', 'params', 'input'];
/** These hold the call itself when their value is an object. */
const WRAPPERS = ['function', 'tool_call', 'function_call'];
/** Arguments behind this can be passed on while they come; the name is the first group. */
const BEFORE_ARGUMENTS = new RegExp(
  `^\\{\\s*(?:"(?:id|type)"\\s*:\\s*"[^"\\\\]*"\\s*,\\s*)*(?:"(?:${WRAPPERS.join('|')})"\\s*:\\s*\\{\\s*)?"(?:${NAMES.join('|')})"\\s*:\\s*"([^"\\\\]*)"\\s*,\\s*"(?:${ARGUMENTS.join('|')})"\\s*:\\s*$`,
);
/** A call that is not valid has a name all the same. */
const NAME = new RegExp(`"(?:${NAMES.join('|')})"\\s*:\\s*"([^"\\\\]*)"`);
const LONGEST_BEFORE = 1_400;
/** It may hold the arguments, where they come before the name. */
const LONGEST_ENVELOPE = MOST_ARGS_CHARS + 64 * 1024;
/** A call may stand in so many objects. */
const MOST_LEVELS = 4;

/**
 * Reads a call as a JSON object: name and arguments in either order, with the usual other words for
 * both, also within another object. An object that is not valid JSON runs nothing. Arguments behind
 * the name are passed on while they come.
 */
export function* readJsonCall(input: TextInput, draft: CallDraft): Reading {
  let json = '';
  let argsDepth = 0;
  let isPassed = false;
  let [from, to] = [0, 0];
  const isClosed = yield* readObject(input, (character, depth) => {
    const name = isPassed || character !== '{' ? undefined : nameBefore(json);
    if (name !== undefined) {
      draft.begin(name);
      isPassed = true;
      argsDepth = depth;
      from = json.length;
    }
    if (argsDepth > 0) draft.write(character);
    if (json.length <= LONGEST_ENVELOPE) json += character;
    if (depth < argsDepth) [argsDepth, to] = [0, json.length];
  });
  const call = isClosed ? callIn(readJson(json)) : undefined;
  draft.begin(call?.name ?? NAME.exec(json)?.[1] ?? NAMELESS);
  if (call && !isPassed) draft.write(call.args);
  // Of arguments that come twice nobody knows which are meant.
  const isMeant = !isPassed || call?.args === JSON.stringify(readJson(json.slice(from, to)));
  draft.end(call !== undefined && isMeant);
}

const nameBefore = (json: string): string | undefined =>
  json.length <= LONGEST_BEFORE ? BEFORE_ARGUMENTS.exec(json)?.[1] : undefined;

const LONGEST_END_TAG = 24;

/** Reads an object or a list to its last bracket; false where it breaks or is cut. `depth` is the one behind the character. */
function* readObject(
  input: TextInput,
  take: (character: string, depth: number) => void,
): Reading<boolean> {
  const extent = new JsonExtent();
  let inString = false;
  let tail = '';
  let isTagged = false;
  const look = (character: string) => {
    tail = (tail + character).slice(-LONGEST_END_TAG);
    isTagged ||= character === '>' && isClosingTag(tail.slice(tail.lastIndexOf('<')));
  };
  for (let place = 'inside'; place !== 'broken'; ) {
    const character = yield* input.peek();
    place = character === '' ? 'broken' : extent.take(character);
    if (place === 'broken') break;
    input.at += 1;
    input.settle();
    inString = extent.inString;
    if (inString) look(character);
    else tail = '';
    isTagged &&= inString;
    take(character, extent.depth);
    if (place === 'closed') return true;
  }
  // A string that is never closed may have run over the end of its call: then that end counts.
  while (inString && !isTagged) {
    const character = yield* input.next();
    if (character === '') break;
    look(character);
    input.settle();
  }
  return false;
}

function callIn(envelope: unknown): { readonly name: string; readonly args: string } | undefined {
  const levels: Record<string, unknown>[] = [];
  for (let level = envelope; isRecord(level) && levels.length < MOST_LEVELS; ) {
    const object = level;
    levels.push(object);
    level = WRAPPERS.map((key) => object[key]).find(isRecord);
  }
  const valuesOf = (keys: readonly string[]) =>
    keys.flatMap((key) => levels.flatMap((one) => (Object.hasOwn(one, key) ? [one[key]] : [])));
  const [args = {}, ...others] = valuesOf(ARGUMENTS);
  if (levels.length === 0 || others.length > 0) return undefined;
  const name = valuesOf(NAMES).find((one) => typeof one === 'string') ?? NAMELESS;
  return { name, args: typeof args === 'string' ? args : JSON.stringify(args) };
}

/** The dialects write the key of an argument in these tags, and its value up to this end. */
const KEYS = [
  { tag: /^<parameter(?:\s+name)?\s*=\s*["']?([^"'<>]+?)["']?\s*>$/i, end: '</parameter>' },
  { tag: /^<arg_key>\s*([^<]+?)\s*(?:<\/arg_key>\s*)?<arg_value>$/, end: '</arg_value>' },
];
/** In a tag of a tool's own name each argument has a tag of its own name, too. */
const OWN_KEY = /^<([A-Za-z_][\w.-]*)>$/;
const LONGEST_TAG = 256;
const LONGEST_BLANK = 1_024;
/** Some models write the words of Python. */
const PYTHON: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

export interface MarkupCall {
  /** The text between the tags is the value; else that is JSON where it can be read as such. */
  readonly isText: (key: string) => boolean;
  /** The tag that ends the call, where that is the tool's own name. */
  readonly toolTag: string | undefined;
}

/** Reads the body of a call whose tool is known: a JSON object, or arguments as tags. */
export function* readMarkupCall(
  input: TextInput,
  draft: CallDraft,
  { isText, toolTag }: MarkupCall,
): Reading {
  const write = (text: string) => draft.write(text);
  yield* skipBlanks(input);
  if ((yield* input.peek()) === '{') return draft.end(yield* readObject(input, write));
  write('{');
  for (let sign = ''; ; sign = ',') {
    yield* skipBlanks(input);
    const start = input.at;
    const tag = yield* readTag(input);
    const { key, end } = keyIn(tag, toolTag);
    if (key === undefined) {
      const isEnd = isEndOf(toolTag, tag);
      if (isEnd) write('}');
      // It is text after all, unless the answer was cut within it.
      else if ((yield* input.peek()) !== '') input.at = start;
      return draft.end(isEnd);
    }
    write(`${sign}${JSON.stringify(key)}:`);
    yield* input.follows('\n');
    const read = isText(key) ? readText : readOther;
    if (!(yield* read(input, write, end))) return draft.end(false);
  }
}

const isEndOf = (toolTag: string | undefined, tag: string): boolean =>
  toolTag === undefined ? isClosingTag(tag) : tag === `</${toolTag}>`;

function* skipBlanks(input: TextInput): Reading {
  for (let left = LONGEST_BLANK; left > 0 && isBlank(yield* input.peek()); left -= 1) input.at += 1;
  input.settle();
}

/** A whole tag, of GLM with the key that it holds; empty where there is none. */
function* readTag(input: TextInput): Reading<string> {
  for (let tag = ''; tag.length < LONGEST_TAG; ) {
    const character = yield* input.next();
    const isKey = tag.startsWith('<arg_key>');
    tag += character;
    if (character === '' || !tag.startsWith('<')) return '';
    if (character === '<' && tag !== '<' && !isKey) return '';
    if (character === '>' && tag !== '<arg_key>' && !(isKey && tag.endsWith('</arg_key>')))
      return tag;
  }
  return '';
}

function keyIn(tag: string, toolTag: string | undefined) {
  for (const one of KEYS) {
    const key = one.tag.exec(tag)?.[1];
    if (key !== undefined) return { key, end: one.end };
  }
  const key = toolTag === undefined ? undefined : OWN_KEY.exec(tag)?.[1];
  return { key, end: `</${key}>` };
}

/** The line breaks next to the tags of an argument do not belong to it. */
function* isAtEnd(input: TextInput, end: string): Reading<boolean> {
  return (yield* input.follows(end)) || (yield* input.follows(`\n${end}`));
}

function* readText(input: TextInput, write: Write, end: string): Reading<boolean> {
  write('"');
  while (!(yield* isAtEnd(input, end))) {
    const character = yield* input.next();
    if (character === '') return false;
    input.settle();
    // Half a character is quoted alone, in whatever pieces it comes.
    write(JSON.stringify(character).slice(1, -1));
  }
  write('"');
  return true;
}

/** Reads JSON, in whose strings nothing is the end, or a word. */
function* readOther(input: TextInput, write: Write, end: string): Reading<boolean> {
  yield* skipBlanks(input);
  const first = yield* input.peek();
  const extent = first === '{' || first === '[' ? new JsonExtent() : undefined;
  let value = '';
  while (extent?.inString || !(yield* isAtEnd(input, end))) {
    const character = yield* input.next();
    const isBroken = character === '' || extent?.take(character) === 'broken';
    if (isBroken || value.length > MOST_ARGS_CHARS) return false;
    input.settle();
    value += character;
  }
  write(extent ? value : scalarJson(value.trim()));
  return !extent || readJson(value) !== undefined;
}

function scalarJson(text: string): string {
  const json = PYTHON[text] ?? text;
  return readJson(json) === undefined ? JSON.stringify(text) : json;
}
