import {
  CallDraft,
  isBlank,
  type Reading,
  readJsonCall,
  readMarkupCall,
  type TextEvent,
  TextInput,
} from './call-body.ts';
import { isClosingTag, readTag, type Tag } from './call-tags.ts';
import { Quotes } from './quotes.ts';

/** The parser knows the offered tools by the names that the model was given. */
export interface OfferedTools {
  readonly names: ReadonlySet<string>;
  /** An argument is text: what stands between its tags is no JSON. */
  readonly isText: (toolName: string, key: string) => boolean;
}

type OpeningTag = Extract<Tag, { name: string }> | { readonly kind: 'call' };

/** So many characters may stand between a tag and its call, and between a call and what follows. */
const LONGEST_HELD = 256;
/** Models write these fences in a tag, around JSON. */
const FENCE_LINE = /^(?:`{1,2}|```[a-z_]{0,16})$/;
/** Mistral writes `name{`, and GLM `name<arg_key>`, without a tag around the name. */
const BARE_CALL = /^([A-Za-z_][\w.-]{0,127})\s*(?:(?:\[ARGS\]\s*)?(\{)|(<arg_key>|<\/[\w:|-]+>))$/;
const BARE_BEGINNING = /^[A-Za-z_][\w.-]{0,127}\s*(?:\[[ARGS]{0,4}\]?\s*|<\/?[\w:|-]*)?$/;
const BETWEEN_CALLS = /[,;`\]}]/;

/**
 * Finds tool calls in one text of a model, in any pieces (AL140 to AL146): `<tool_call>{…}</tool_call>`
 * and the usual other forms. A call is over with the last bracket of its JSON, so that a missing end
 * tag changes nothing. Text stays text when it is quoted (`Quotes`) or stands in a tag of results or
 * thoughts. Each character is read a bounded number of times, and no more is held back than a tag and
 * `LONGEST_HELD` characters; of a call, as much as its arguments may have.
 */
export class CallParser {
  readonly #tools: OfferedTools;
  /** HTML has no tag with an underscore, so that an answer can hold any of it. */
  readonly #tags: ReadonlySet<string>;
  readonly #quotes = new Quotes();
  readonly #input = new TextInput();
  readonly #reading: Reading;
  #events: TextEvent[] = [];
  /** Blanks of the text go with the call if one follows. */
  #blanks = '';
  #tagStart = 0;
  /** Set between a call and what follows it, to where that begins. */
  #calledAt: number | undefined;
  /** The tag around the last call has not ended: another call may stand in it. */
  #isWithinTag = false;

  constructor(tools: OfferedTools) {
    this.#tools = tools;
    this.#tags = new Set([...tools.names].filter((name) => name.includes('_')));
    this.#reading = this.#readText();
  }

  push(text: string): readonly TextEvent[] {
    return this.#read(text, false);
  }

  /** Gives out what was held back: the text is at its end. A call that is not closed is malformed. */
  end(): readonly TextEvent[] {
    return this.#read('', true);
  }

  #read(text: string, isOver: boolean): readonly TextEvent[] {
    this.#input.push(text, isOver);
    this.#reading.next();
    const events = this.#events;
    this.#events = [];
    return events;
  }

  *#readText(): Reading {
    const input = this.#input;
    for (;;) {
      const character = yield* input.peek();
      if (character === '') return this.#flushBlanks();
      input.settle();
      const isCalled = this.#calledAt !== undefined;
      if ('<['.includes(character) && !this.#quotes.isQuoted()) yield* this.#readFromTag();
      else if (isCalled && this.#isWithinTag && character === '{') yield* this.#readJson();
      else if (this.#isBetweenCalls(character)) input.at += 1;
      else {
        this.#calledAt = undefined;
        this.#writeTo(input.at + 1);
      }
    }
  }

  /** Models leave blanks and signs between calls; they are no text. */
  #isBetweenCalls(character: string): boolean {
    if (this.#calledAt === undefined) return false;
    if (this.#input.at - this.#calledAt >= LONGEST_HELD) return false;
    return isBlank(character) || (this.#isWithinTag && BETWEEN_CALLS.test(character));
  }

  *#readFromTag(): Reading {
    const start = this.#input.at;
    const tag = yield* this.#readTag();
    if (tag?.kind === 'opaque') return yield* this.#readOpaque(start, tag.end);
    if (tag?.kind === 'closing' && this.#calledAt !== undefined) return this.#endTag();
    if (tag && tag.kind !== 'closing' && (yield* this.#readOpened(tag, start))) return;
    this.#calledAt = undefined;
    this.#input.at = start;
    // The rest is read again: another tag may begin in it.
    this.#writeTo(this.#tagStart + 1);
  }

  /** The tag ended behind a call, or held none; it is no text. */
  #endTag(): void {
    this.#isWithinTag = false;
    this.#calledAt = this.#input.at;
  }

  *#readTag(): Reading<Tag | undefined> {
    this.#tagStart = this.#input.at;
    for (let text = ''; ; ) {
      const character = yield* this.#input.next();
      text += character;
      const tag = character === '' ? 'none' : readTag(text, this.#tags);
      if (tag !== 'maybe') return tag === 'none' ? undefined : tag;
    }
  }

  /** Reads thoughts or results, which are text, to their end. */
  *#readOpaque(start: number, end: string): Reading {
    const input = this.#input;
    this.#calledAt = undefined;
    this.#write(input.textFrom(start));
    for (let awaited = end; awaited !== ''; ) {
      input.settle();
      const from = input.at;
      if (yield* input.follows(awaited)) awaited = awaited === '>' ? '' : '>';
      else if ((yield* input.next()) === '') return;
      this.#write(input.textFrom(from));
    }
    this.#quotes.take('\n');
  }

  /** Reads the call behind an opening tag; false where there is none. */
  *#readOpened(first: OpeningTag, start: number): Reading<boolean> {
    for (let opened = first; yield* this.#skipToCall(start); ) {
      const character = yield* this.#input.peek();
      if (opened.kind !== 'call') {
        if (!'<{'.includes(character)) return false;
        return yield* this.#readMarkup(opened.name, opened.kind === 'tool');
      }
      if (character === '{') return yield* this.#readJson();
      if (character !== '<') return yield* this.#readBare(start);
      const tag = yield* this.#readTag();
      if (tag?.kind === 'closing') this.#endTag();
      if (!tag || tag.kind === 'opaque' || tag.kind === 'closing') return tag?.kind === 'closing';
      opened = tag;
    }
    return false;
  }

  /** Skips blanks, fences and the bracket of a list; false where nothing follows, or too late. */
  *#skipToCall(start: number): Reading<boolean> {
    for (let fence = ''; this.#input.at - start < LONGEST_HELD; this.#input.at += 1) {
      const character = yield* this.#input.peek();
      if (character === '') return false;
      const isSkipped = isBlank(character) || character === '[';
      if (!isSkipped && !FENCE_LINE.test(fence + character)) return true;
      fence = isSkipped ? '' : fence + character;
    }
    return false;
  }

  *#readBare(start: number): Reading<boolean> {
    for (let body = ''; this.#input.at - start < LONGEST_HELD; ) {
      const character = yield* this.#input.next();
      body += character;
      const name = this.#bareName(body);
      if (name !== undefined) return yield* this.#readMarkup(name, false, true);
      if (character === '' || !BARE_BEGINNING.test(body)) return false;
    }
    return false;
  }

  /** Goes back to where the arguments begin. */
  #bareName(body: string): string | undefined {
    const [, name, bracket, tag = ''] = BARE_CALL.exec(body) ?? [];
    if (bracket === undefined && tag !== '<arg_key>' && !isClosingTag(tag)) return undefined;
    this.#input.at -= (bracket ?? tag).length;
    return name;
  }

  #readJson(): Reading<true> {
    return this.#readCall(true, (draft) => readJsonCall(this.#input, draft));
  }

  #readMarkup(name: string, isOwnTag: boolean, isWithinTag = false): Reading<true> {
    const isText = (key: string) => this.#tools.isText(name, key);
    const toolTag = isOwnTag ? name : undefined;
    return this.#readCall(isWithinTag, (draft) => {
      draft.begin(name);
      return readMarkupCall(this.#input, draft, { isText, toolTag });
    });
  }

  *#readCall(isWithinTag: boolean, read: (draft: CallDraft) => Reading): Reading<true> {
    this.#blanks = '';
    yield* read(new CallDraft((event) => this.#add(event)));
    this.#isWithinTag = isWithinTag;
    this.#calledAt = this.#input.at;
    // The text behind a call begins like a line.
    this.#quotes.take('\n');
    return true;
  }

  #writeTo(end: number): void {
    const input = this.#input;
    const from = input.at;
    input.at = end;
    const text = input.textFrom(from);
    for (let at = 0; at < text.length; at += 1) this.#quotes.take(text.charAt(at));
    this.#write(text);
  }

  #write(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const character = text.charAt(at);
      const isHeld = isBlank(character) && this.#blanks.length < LONGEST_HELD;
      if (isHeld) this.#blanks += character;
      else {
        this.#flushBlanks();
        this.#add({ type: 'text', text: character });
      }
    }
  }

  #flushBlanks(): void {
    if (this.#blanks !== '') this.#add({ type: 'text', text: this.#blanks });
    this.#blanks = '';
  }

  /** Neighbours of one kind become one event. */
  #add(event: TextEvent): void {
    const last = this.#events.at(-1);
    if (last && 'text' in last && 'text' in event && last.type === event.type) {
      this.#events[this.#events.length - 1] = { ...last, text: last.text + event.text };
    } else this.#events.push(event);
  }
}

/** A call is shorter; what is longer is an answer. */
const MOST_CHARS = 32 * 1024;
/**
 * The parser does not read these forms of DeepSeek, Kimi, gpt-oss, Llama, Qwen, Gemma, Mistral and Phi. Blanks are
 * never read by two parts that follow each other: a text of nothing else would take their square.
 */
const MARKS =
  /<[|｜][a-z_▁|｜]|\bto=functions\.|✿FUNCTION✿|\[TOOL_CALLS\]|<start_function_call>|```tool_code|^\s*functools\[|^\s*\[[\w.]+\(|\n```\w{0,20}\n\[?\{\s{0,9}"name"\s?:[^{}`]{1,150}"(?:arguments|parameters)"[^`]*```\s*$|^\s*(?:```\w*\s*)?(?:\[\s*)?\{\s*"(?:name|type|function|tool|tool_calls)"/i;

/**
 * Finds the tool, by the name that the model was given, of which its text holds a call (AL203). Such a
 * call is not run: in native mode nothing keeps a model from repeating one that it read.
 */
export function callInText(text: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const parser = new CallParser({ names: new Set(names), isText: () => false });
  const start = text.slice(0, MOST_CHARS);
  const events = [...parser.push(start), ...parser.end()];
  const called = events.flatMap((event) => (event.type === 'start' ? [event.name] : []));
  const known = called.find((name) => names.includes(name));
  return known ?? (MARKS.test(start) ? names.find((name) => start.includes(name)) : undefined);
}
