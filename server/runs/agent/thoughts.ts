import { Quotes } from './text-calls/quotes.ts';

/** A piece of what a model says. `rethink`: the text before it was a thought, too. */
export type AnswerPiece =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | { readonly kind: 'rethink' };

/** By which models set their thoughts apart where their server does not: how they begin, and end. */
const TAGS = [
  ...['think', 'thinking', 'thought', 'reasoning', 'seed:think'].map((name) => ({
    ...{ open: `<${name}>`, close: `</${name}>` },
  })),
  { open: '[think]', close: '[/think]' },
  { open: '◁think▷', close: '◁/think▷' },
];

const STARTS = '<[◁';

/**
 * Sets the thoughts apart that a model writes into its text (AL202), in whatever pieces it comes. They
 * begin where a line does, outside of quotes and code. An end without a beginning, which some servers
 * leave to the prompt, makes a thought of the text before it. No more is held back than a tag.
 */
export class ThoughtReader {
  readonly #quotes = new Quotes();
  readonly #pieces: AnswerPiece[] = [];
  /** How the thought ends that is being read. */
  #close: string | undefined;
  #hasThought = false;
  /** Nothing but blanks since a line, or the answer, began; those at a beginning go with a thought. */
  #isLineStart = true;
  #blanks = '';
  #isStart = true;
  /** What may become one of these tags. */
  #held = '';
  #tags: readonly string[] = [];

  push(text: string): readonly AnswerPiece[] {
    for (const character of text) this.#take(character);
    return this.#pieces.splice(0);
  }

  /** Gives out what was held back. */
  end(): readonly AnswerPiece[] {
    for (const character of this.#held) this.#emit(character);
    this.#held = '';
    return this.#pieces.splice(0);
  }

  #take(character: string): void {
    // What may come here is found out once for each beginning: `isQuoted` ends a run of backticks.
    if (this.#held === '') this.#tags = STARTS.includes(character) ? this.#expected() : [];
    const text = (this.#held + character).toLowerCase();
    if (this.#tags.includes(text)) return this.#turn(text);
    if (this.#tags.some((tag) => tag.startsWith(text))) {
      this.#held += character;
      return;
    }
    const held = this.#held;
    this.#held = '';
    for (const one of held) this.#emit(one);
    if (held === '') this.#emit(character);
    else this.#take(character);
  }

  #expected(): readonly string[] {
    if (this.#close !== undefined) return [this.#close];
    const open = this.#isLineStart ? TAGS.map((tag) => tag.open) : [];
    const close = this.#hasThought ? [] : TAGS.map((tag) => tag.close);
    return this.#quotes.isQuoted() ? [] : [...open, ...close];
  }

  #turn(tag: string): void {
    this.#held = '';
    this.#blanks = '';
    const begun = TAGS.find(({ open }) => open === tag);
    const isOrphan = this.#close === undefined && !begun;
    if (isOrphan) this.#pieces.push({ kind: 'rethink' });
    this.#hasThought = true;
    this.#close = begun?.close;
    this.#isStart = true;
    this.#isLineStart = true;
  }

  #emit(text: string): void {
    if (this.#close !== undefined) return this.#add('reasoning', text);
    this.#quotes.take(text);
    const isBlank = text.trim() === '';
    if (text === '\n') this.#isLineStart = true;
    else if (!isBlank) this.#isLineStart = false;
    if (this.#isStart && isBlank) {
      this.#blanks += this.#hasThought ? '' : text;
      return;
    }
    this.#isStart = false;
    this.#add('text', this.#blanks + text);
    this.#blanks = '';
  }

  #add(kind: 'text' | 'reasoning', text: string): void {
    const last = this.#pieces.at(-1);
    if (last?.kind !== kind) this.#pieces.push({ kind, text });
    else this.#pieces[this.#pieces.length - 1] = { kind, text: last.text + text };
  }
}
