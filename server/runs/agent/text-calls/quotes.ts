/** Directly before a tag: the tag is quoted or escaped. */
const QUOTES = /["'“‘«„「『‹\\`]/;

/** `word`: code within a line. `line`: a fence that began within a line, and so may end within one. */
interface Code {
  readonly sign: string;
  readonly length: number;
  readonly kind: 'word' | 'line' | 'block';
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
  #code: Code | undefined;
  #isFirstLineOfCode = false;
  /** A line of nothing but the sign of the fence, so far. */
  #endsBlock = false;
  #run = { sign: '', length: 0, isAtLineStart: false };

  /** Tells whether the next text is quoted, when it does not begin with a backtick or `~`. */
  isQuoted(): boolean {
    this.#endRun();
    const isQuote = this.#isQuotedLine || this.#isBetweenQuotes || QUOTES.test(this.#last);
    return this.#code !== undefined || isQuote;
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
    if (!' \t\n'.includes(character)) this.#isLineStart = false;
    this.#last = character;
  }

  #takeOther(character: string): void {
    if (!/\s/.test(character)) this.#endsBlock = false;
    if (this.#isLineStart && character === '>') this.#isQuotedLine = true;
    if (this.#code) return;
    if (character === '"') this.#isBetweenQuotes = !this.#isBetweenQuotes;
    if (character === '“') this.#isBetweenQuotes = true;
    if (character === '”') this.#isBetweenQuotes = false;
  }

  #endRun(): void {
    const { sign, length, isAtLineStart } = this.#run;
    if (length === 0) return;
    this.#run = { sign: '', length: 0, isAtLineStart: false };
    if (this.#code) return this.#endCode(this.#code, sign, length, isAtLineStart);
    const isFence = length >= 3 && (sign === '`' || isAtLineStart);
    if (!isFence && sign !== '`') return;
    const kind = isAtLineStart ? 'block' : 'line';
    this.#code = { sign, length, kind: isFence ? kind : 'word' };
    this.#isFirstLineOfCode = true;
  }

  #endCode(code: Code, sign: string, length: number, isAtLineStart: boolean): void {
    const isLong = code.kind === 'word' ? length === code.length : length >= code.length;
    if (sign !== code.sign || !isLong) return;
    if (code.kind !== 'block' || this.#isFirstLineOfCode) this.#code = undefined;
    else this.#endsBlock = isAtLineStart;
  }

  #endLine(): void {
    if (this.#endsBlock || this.#code?.kind === 'word') this.#code = undefined;
    this.#endsBlock = false;
    this.#isFirstLineOfCode = false;
    this.#isQuotedLine = false;
    this.#isBetweenQuotes = false;
    this.#isLineStart = true;
  }
}
