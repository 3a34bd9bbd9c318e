import { CallDraft, type CallReader, EventList, isBlank, type TextEvent } from './call-events.ts';
import { inLowerCase, isClosingTag, readTag, type Tag } from './call-tags.ts';
import { JsonCall } from './json-call.ts';
import { MarkupCall, type ValueKind } from './markup-call.ts';
import { Quotes } from './quotes.ts';

/** What is known of the tools that the model was offered, by the names that it was given. */
export interface OfferedTools {
  readonly names: ReadonlySet<string>;
  readonly kindOf: (toolName: string, key: string) => ValueKind;
}

/** Characters between a tag and its call, and between a call and what follows. */
const LONGEST_HELD = 256;
/** As models write it in a tag, around JSON. */
const FENCE_LINE = /^(?:`{1,2}|```[a-z_]{0,16})$/;
/** A tool's name without a tag around it, up to its arguments: of Mistral `name{`, of GLM `name<arg_key>`. */
const BARE_CALL = /^([A-Za-z_][\w.-]{0,127})\s*(?:(?:\[ARGS\]\s*)?(\{)|(<arg_key>|<\/[\w:|-]+>))$/;
const BARE_BEGINNING = /^[A-Za-z_][\w.-]{0,127}\s*(?:\[[ARGS]{0,4}\]?\s*|<\/?[\w:|-]*)?$/;
const BETWEEN_CALLS = /[,;`\]}]/;
const AFTER_CALL = /^[\s,;`\]}]+/;

type NamingTag = Extract<Tag, { name: string }>;
type OpeningTag = NamingTag | { readonly kind: 'call' };
type State = 'text' | 'tag' | 'opened' | 'call' | 'called' | 'opaque';

/**
 * Finds tool calls in one text of a model, in any pieces (AL140 to AL146): `<tool_call>{…}</tool_call>`
 * and the usual other forms. A call is over with the last bracket of its JSON, so that a missing end
 * tag changes nothing. What is quoted (`Quotes`) or stands in a tag of results or thoughts is text.
 * Each character is read a bounded number of times, and no more is held back than a tag and
 * `LONGEST_HELD` characters; of a call, what its arguments may have.
 */
export class CallParser {
  readonly #tools: OfferedTools;
  /** HTML has no tag with an underscore, so that an answer can hold any of it. */
  readonly #tags: ReadonlySet<string>;
  readonly #events = new EventList();
  readonly #quotes = new Quotes();
  #state: State = 'text';
  /** Blanks of the text, which go with the call if one follows. */
  #blanks = '';
  /** What is text unless it becomes a call. */
  #held = '';
  /** Where the tag began that is being read, and the state in which it did. */
  #tagStart = 0;
  #before: 'text' | 'opened' | 'called' = 'text';
  /** The tag that was opened last, and what follows it. */
  #opened: OpeningTag = { kind: 'call' };
  #body = '';
  #reader: CallReader | undefined;
  /** The tag around the call that is over has not ended: there may be another one in it. */
  #isWithinTag = false;
  #opaqueEnd = '';
  #tail = '';

  constructor(tools: OfferedTools) {
    this.#tools = tools;
    this.#tags = new Set([...tools.names].filter((name) => name.includes('_')));
  }

  push(text: string): readonly TextEvent[] {
    this.#feed(text);
    return this.#events.take();
  }

  /** The text is at its end: gives out what was held back. A call that is not closed is not whole. */
  end(): readonly TextEvent[] {
    if (this.#state === 'call') this.#reader?.end();
    this.#flushBlanks();
    const held = this.#unhold();
    if (held !== '') this.#events.add({ type: 'text', text: held });
    return this.#events.take();
  }

  /** By code units, so that a character that is cut in two reads the same. */
  #feed(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.#take(text.charAt(at));
  }

  #take(character: string): void {
    switch (this.#state) {
      case 'text':
        return this.#takeOfText(character);
      case 'tag':
        return this.#takeOfTag(character);
      case 'opened':
        return this.#takeOfOpened(character);
      case 'call':
        return this.#takeOfCall(character);
      case 'called':
        return this.#takeAfterCall(character);
      case 'opaque':
        return this.#takeOfOpaque(character);
    }
  }

  #takeOfText(character: string): void {
    if (isTagStart(character) && !this.#quotes.isQuoted()) this.#startTag('text', character);
    else this.#write(character);
  }

  #startTag(before: 'text' | 'opened' | 'called', character: string): void {
    this.#before = before;
    this.#tagStart = this.#held.length;
    this.#held += character;
    this.#state = 'tag';
  }

  #takeOfTag(character: string): void {
    const tag = readTag(this.#held.slice(this.#tagStart) + character, this.#tags);
    if (tag === 'maybe') this.#held += character;
    else if (tag === 'none') this.#reject(character);
    else this.#enter(tag, character);
  }

  #enter(tag: Tag, character: string): void {
    const text = this.#held + character;
    if (tag.kind === 'closing' && this.#before !== 'text') return this.#close();
    if (tag.kind === 'closing') this.#reject(character);
    else if (tag.kind !== 'opaque') {
      this.#held = text;
      this.#opened = tag;
      this.#body = '';
      this.#state = 'opened';
    } else if (this.#before === 'opened') this.#reject(character);
    else this.#startOpaque(tag.end, character);
  }

  /** The end tag of a call that is over, or of one that holds nothing; not text. */
  #close(): void {
    this.#held = '';
    this.#isWithinTag = false;
    this.#state = 'called';
  }

  /** After the tag of a call, before the call itself. */
  #takeOfOpened(character: string): void {
    if (this.#held.length >= LONGEST_HELD) return this.#reject(character);
    const isAtStart = this.#body === '' || FENCE_LINE.test(this.#body);
    if (isAtStart && isBlank(character)) return this.#hold(character, '');
    if (this.#opened.kind !== 'call') return this.#takeOfNamed(this.#opened, character);
    if (isAtStart) {
      if (character === '<') return this.#startTag('opened', character);
      if (character === '{') return this.#startJson(character);
      if (character === '[') return this.#hold(character, '');
    }
    const body = this.#body + character;
    const [, name, bracket, tag = ''] = BARE_CALL.exec(body) ?? [];
    const isCall = bracket !== undefined || tag === '<arg_key>' || isClosingTag(tag);
    if (name !== undefined && isCall) this.#startMarkup(name, undefined, bracket ?? tag);
    else if (FENCE_LINE.test(body) || BARE_BEGINNING.test(body)) this.#hold(character, body);
    else this.#reject(character);
  }

  #takeOfNamed({ kind, name }: NamingTag, character: string): void {
    if (character !== '<' && character !== '{') this.#reject(character);
    else this.#startMarkup(name, kind === 'tool' ? name : undefined, character);
  }

  #hold(character: string, body: string): void {
    this.#held += character;
    this.#body = body;
  }

  #startJson(character: string): void {
    this.#startCall(new JsonCall(new CallDraft(this.#events)), character);
  }

  #startMarkup(name: string, toolTag: string | undefined, text: string): void {
    const draft = new CallDraft(this.#events);
    const kindOf = (key: string) => this.#tools.kindOf(name, key);
    const reader = new MarkupCall({ draft, kindOf, toolTag });
    draft.begin(name);
    this.#startCall(reader, text);
  }

  #startCall(reader: CallReader, text: string): void {
    this.#held = '';
    this.#blanks = '';
    this.#reader = reader;
    this.#state = 'call';
    this.#feed(text);
  }

  #takeOfCall(character: string): void {
    const reader = this.#reader;
    const taken = reader?.take(character);
    if (!reader || taken === 'goes_on') return;
    this.#reader = undefined;
    this.#state = 'called';
    this.#isWithinTag = this.#opened.kind === 'call';
    // What follows a call begins like a line.
    this.#quotes.take('\n');
    if (taken === 'over_before') this.#feed(reader.rest + character);
  }

  /** Between a call and what follows: another one, the end of its tag, or text. */
  #takeAfterCall(character: string): void {
    if (isTagStart(character)) return this.#startTag('called', character);
    if (this.#isWithinTag && character === '{') return this.#startJson(character);
    const isBetween = isBlank(character) || (this.#isWithinTag && BETWEEN_CALLS.test(character));
    if (isBetween && this.#held.length < LONGEST_HELD) this.#held += character;
    else this.#reject(character);
  }

  #startOpaque(end: string, character: string): void {
    const text = this.#unhold() + character;
    this.#opaqueEnd = end;
    this.#tail = '';
    this.#state = 'opaque';
    for (let at = 0; at < text.length; at += 1) this.#write(text.charAt(at));
  }

  #takeOfOpaque(character: string): void {
    this.#write(character);
    const tail = inLowerCase(`${this.#tail}${character}`);
    this.#tail = this.#opaqueEnd.startsWith(tail) ? tail : character === '<' ? '<' : '';
    if (tail !== this.#opaqueEnd) return;
    this.#tail = '';
    this.#state = tail === '>' ? 'text' : 'opaque';
    this.#opaqueEnd = '>';
    this.#quotes.take('\n');
  }

  /** What was held is text after all, up to where the last tag began; the rest is read again. */
  #reject(character: string): void {
    const whole = this.#held + character;
    const text = this.#unhold() + character;
    const isTag = this.#state === 'tag' || this.#state === 'opened';
    const start = isTag ? Math.max(0, this.#tagStart - (whole.length - text.length)) : 0;
    this.#state = 'text';
    this.#before = 'text';
    for (let at = 0; at <= start; at += 1) this.#write(text.charAt(at));
    this.#feed(text.slice(start + 1));
  }

  /** The blanks and signs that models leave between calls are not text. */
  #unhold(): string {
    const held = this.#held;
    const isAfterCall = this.#state === 'called' || this.#before === 'called';
    this.#held = '';
    return isAfterCall ? held.replace(AFTER_CALL, '') : held;
  }

  #write(character: string): void {
    if (this.#state !== 'opaque') this.#quotes.take(character);
    if (isBlank(character) && this.#blanks.length < LONGEST_HELD) {
      this.#blanks += character;
      return;
    }
    this.#flushBlanks();
    this.#events.add({ type: 'text', text: character });
  }

  #flushBlanks(): void {
    if (this.#blanks !== '') this.#events.add({ type: 'text', text: this.#blanks });
    this.#blanks = '';
  }
}

const isTagStart = (character: string): boolean => character === '<' || character === '[';

/** Enough for a call; what is longer is an answer. */
const MOST_CHARS = 32 * 1024;
/** Of the forms that the parser does not read: DeepSeek's, Kimi's, gpt-oss's, Llama's, Qwen's, Gemma's, Mistral's, Phi's. */
const MARKS =
  /<[|｜][a-z_▁|｜]|\bto=functions\.|✿FUNCTION✿|\[TOOL_CALLS\]|<start_function_call>|```tool_code|^\s*functools\[|^\s*\[[\w.]+\(|\n```\w{0,20}\n\[?\{\s{0,9}"name"\s?:[^{}`]{1,150}"(?:arguments|parameters)"[^`]*```\s*$|^\s*(?:```\w*\s*)?\[?\s*\{\s*"(?:name|type|function|tool|tool_calls)"/i;

/**
 * The tool, by the name that the model was given, of which its text holds a call; undefined for none
 * (AL203). Such a call is not run: in native mode nothing keeps a model from repeating one that it read.
 */
export function callInText(text: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const parser = new CallParser({ names: new Set(names), kindOf: () => 'other' });
  const start = text.slice(0, MOST_CHARS);
  const events = [...parser.push(start), ...parser.end()];
  const called = events.flatMap((event) => (event.type === 'start' ? [event.name] : []));
  const known = called.find((name) => names.includes(name));
  return known ?? (MARKS.test(start) ? names.find((name) => start.includes(name)) : undefined);
}
