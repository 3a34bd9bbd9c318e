/** Directly before a tag: the tag is quoted or escaped. */
const QUOTES = /["'“‘«„「『‹\\`]/;

interface Fence {
  readonly sign: string;
  readonly length: number;
  /** It began within a line, and so it may end within one. */
  readonly isWithinLine: boolean;
}

/**
 * Follows Markdown so far as it says what is quoted: code fences, code within a line, lines that
 * begin with `>`, and what stands between `"` and `"` or “ and ” in one line.
 */
export class Quotes {
  #last = '';
  #isLineStart = true;
  #isQuotedLine = false;
  #isBetweenQuotes = false;
  /** Backticks that began the code in this line; 0 outside of it. */
  #codeSigns = 0;
  #fence: Fence | undefined;
  #isFirstLineOfFence = false;
  /** A line of nothing but the sign of the fence, so far. */
  #endsFence = false;
  #run = { sign: '', length: 0, isAtLineStart: false };

  /** Tells whether the next text is quoted, when it does not begin with a backtick or `~`. */
  isQuoted(): boolean {
    this.#endRun();
    const isCode = this.#fence !== undefined || this.#codeSigns > 0;
    return isCode || this.#isQuotedLine || this.#isBetweenQuotes || QUOTES.test(this.#last);
  }

  take(character: string): void {
    const isSign = character === '`' || character === '~';
    if (isSign && this.#run.sign === character) this.#run.length += 1;
    else {
      this.#endRun();
      if (isSign) this.#run = { sign: character, length: 1, isAtLineStart: this.#isLineStart };
      else if (character === '\n') this.#endLine();
      else this.#takeOther(character);
    }
    const isIndent = character === ' ' || character === '\t';
    if (character !== '\n' && !isIndent) this.#isLineStart = false;
    this.#last = character;
  }

  #takeOther(character: string): void {
    if (!/\s/.test(character)) this.#endsFence = false;
    if (this.#isLineStart && character === '>') this.#isQuotedLine = true;
    if (this.#codeSigns > 0 || this.#fence) return;
    if (character === '"') this.#isBetweenQuotes = !this.#isBetweenQuotes;
    if (character === '“') this.#isBetweenQuotes = true;
    if (character === '”') this.#isBetweenQuotes = false;
  }

  #endRun(): void {
    const { sign, length, isAtLineStart } = this.#run;
    if (length === 0) return;
    this.#run = { sign: '', length: 0, isAtLineStart: false };
    if (this.#fence) return this.#closeFence(this.#fence, sign, length, isAtLineStart);
    if (this.#codeSigns > 0) {
      if (sign === '`' && length === this.#codeSigns) this.#codeSigns = 0;
    } else if (length >= 3 && (sign === '`' || isAtLineStart)) {
      this.#fence = { sign, length, isWithinLine: !isAtLineStart };
      this.#isFirstLineOfFence = true;
    } else if (sign === '`') this.#codeSigns = length;
  }

  #closeFence(fence: Fence, sign: string, length: number, isAtLineStart: boolean): void {
    if (sign !== fence.sign || length < fence.length) return;
    if (fence.isWithinLine || this.#isFirstLineOfFence) this.#fence = undefined;
    else this.#endsFence = isAtLineStart;
  }

  #endLine(): void {
    if (this.#endsFence) this.#fence = undefined;
    this.#endsFence = false;
    this.#isFirstLineOfFence = false;
    this.#codeSigns = 0;
    this.#isQuotedLine = false;
    this.#isBetweenQuotes = false;
    this.#isLineStart = true;
  }
}
