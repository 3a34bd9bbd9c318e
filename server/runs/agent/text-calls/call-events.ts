import { LIMITS } from '#lib/protocol/limits';
import { NAMELESS } from '../find-tool.ts';

/** What is read from a model's text, in the order in which it was written. */
export type TextEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'start'; readonly name: string }
  /** A piece of the JSON text of the arguments. */
  | { readonly type: 'args'; readonly text: string }
  /** `input` is the whole JSON text; of a call that is malformed or cut, never valid JSON. */
  | { readonly type: 'end'; readonly input: string; readonly isWhole: boolean };

/** Twice of what a call may have, so that the call service refuses it with its own words. */
const MOST_ARGS_CHARS = 2 * LIMITS.argsBytes;

/** Collects what one `push` of the parser reads; neighbours of one kind become one event. */
export class EventList {
  #events: TextEvent[] = [];

  add(event: TextEvent): void {
    const last = this.#events.at(-1);
    if (last && 'text' in last && 'text' in event && last.type === event.type) {
      this.#events[this.#events.length - 1] = { ...last, text: last.text + event.text };
    } else this.#events.push(event);
  }

  take(): readonly TextEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** One call while it is read: its name and its arguments may come in either order. */
export class CallDraft {
  readonly #events: EventList;
  readonly #args: string[] = [];
  #chars = 0;
  #name: string | undefined;

  constructor(events: EventList) {
    this.#events = events;
  }

  get name(): string | undefined {
    return this.#name;
  }

  /** The first name counts. */
  begin(name: string): void {
    if (this.#name !== undefined) return;
    this.#name = name;
    this.#events.add({ type: 'start', name });
    for (const text of this.#args) this.#events.add({ type: 'args', text });
  }

  write(text: string): void {
    this.#chars += text.length;
    if (this.#chars > MOST_ARGS_CHARS) return;
    this.#args.push(text);
    if (this.#name !== undefined) this.#events.add({ type: 'args', text });
  }

  end(isComplete: boolean): void {
    this.begin(NAMELESS);
    const isWhole = isComplete && this.#chars <= MOST_ARGS_CHARS;
    const args = this.#args.join('');
    const input = isWhole ? args : `${args}…`;
    this.#events.add({ type: 'end', input, isWhole });
  }
}

/**
 * Reads the body of one call, character by character. `over_before`: the character, with what
 * `rest` holds before it, does not belong to the call.
 */
export interface CallReader {
  take(character: string): 'goes_on' | 'over' | 'over_before';
  readonly rest: string;
  /** The text is at its end. */
  end(): void;
}

/**
 * Finds the end of a JSON object or list, by strings and brackets alone; whether it is valid is
 * found out by parsing it. A control character in a string and `<` or a backtick outside of one
 * stand in no JSON text: there it breaks.
 */
export class JsonExtent {
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  get depth(): number {
    return this.#depth;
  }

  get inString(): boolean {
    return this.#inString;
  }

  take(character: string): 'inside' | 'closed' | 'broken' {
    if (this.#inString) return this.#takeOfString(character);
    if (character === '"') this.#inString = true;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if (character === '}' || character === ']') {
      this.#depth -= 1;
      if (this.#depth <= 0) return 'closed';
    } else if (character === '<' || character === '`') return 'broken';
    return 'inside';
  }

  #takeOfString(character: string): 'inside' | 'broken' {
    if (character < ' ') return 'broken';
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '\\') this.#isEscaped = true;
    else if (character === '"') this.#inString = false;
    return 'inside';
  }
}

export const isBlank = (character: string): boolean => /\s/.test(character);
