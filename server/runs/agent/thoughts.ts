import { Quotes } from './text-calls/quotes.ts';

/** A piece of what a model says. `rethink`: the text before it was a thought, too. */
export type AnswerPiece =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | { readonly kind: 'rethink' };

/** By which models set their thoughts apart where their server does not. */
const TAG = /<\/?(?:think|thinking|thought|reasoning|seed:think)>|\[\/?think\]|◁\/?think▷/gi;
/** The end of a piece may become a tag. */
const BEGINNING = /(?:<\/?[a-z:]{0,10}|\[\/?[a-z]{0,5}|◁\/?[a-z]{0,5})$/i;

/**
 * Sets the thoughts apart that a model writes into its text (AL202), in whatever pieces it comes. They
 * begin where a line does, outside of quotes and code. An end without a beginning, which some servers
 * leave to the prompt, makes a thought of the text before it. No more is held back than a tag.
 */
export class ThoughtReader {
  readonly #quotes = new Quotes();
  /** Text that `#quotes` has not read: it is read before a tag alone. */
  #unread = '';
  #pieces: AnswerPiece[] = [];
  /** How the thought ends that is being read. */
  #close: string | undefined;
  #hasThought = false;
  #isLineStart = true;
  /** Nothing of the answer, or of what follows a thought, but these blanks. */
  #isStart = true;
  #blanks = '';
  /** The held text may become a tag. */
  #held = '';

  push(text: string): readonly AnswerPiece[] {
    const whole = this.#held + text;
    let at = 0;
    for (const { 0: tag, index } of whole.matchAll(TAG)) {
      this.#emit(whole.slice(at, index));
      at = index + tag.length;
      if (!this.#turn(tag.toLowerCase())) this.#emit(tag);
    }
    this.#held = BEGINNING.exec(whole.slice(Math.max(at, whole.length - 12)))?.[0] ?? '';
    this.#emit(whole.slice(at, whole.length - this.#held.length));
    return this.#take();
  }

  /** Gives out what was held back. */
  end(): readonly AnswerPiece[] {
    this.#emit(this.#held);
    this.#held = '';
    return this.#take();
  }

  #take(): readonly AnswerPiece[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** False where the tag is text. */
  #turn(tag: string): boolean {
    const isEnd = tag[1] === '/';
    const isOrphan = isEnd && this.#close === undefined;
    if (this.#close !== undefined && tag !== this.#close) return false;
    if (isOrphan && this.#hasThought) return false;
    if (!isEnd && !this.#isLineStart) return false;
    if (this.#close === undefined && this.#isQuoted()) return false;
    if (isOrphan) this.#pieces.push({ kind: 'rethink' });
    this.#hasThought = true;
    this.#close = isEnd ? undefined : `${tag.charAt(0)}/${tag.slice(1)}`;
    this.#isStart = true;
    this.#isLineStart = true;
    this.#blanks = '';
    return true;
  }

  #isQuoted(): boolean {
    for (const character of this.#unread) this.#quotes.take(character);
    this.#unread = '';
    return this.#quotes.isQuoted();
  }

  #emit(text: string): void {
    if (text === '') return;
    if (this.#close !== undefined) return void this.#pieces.push({ kind: 'reasoning', text });
    this.#unread += text;
    const line = text.lastIndexOf('\n');
    this.#isLineStart = (line >= 0 || this.#isLineStart) && text.slice(line + 1).trim() === '';
    const shown = this.#isStart && this.#hasThought ? text.trimStart() : this.#blanks + text;
    const isBlank = this.#isStart && shown.trim() === '';
    this.#blanks = isBlank ? shown : '';
    if (isBlank) return;
    this.#isStart = false;
    this.#pieces.push({ kind: 'text', text: shown });
  }
}
