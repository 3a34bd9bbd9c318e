/**
 * Finds the end of a JSON object or list by strings and brackets alone; whether the text is valid is
 * found out by parsing it. A control character in a string and `<` or a backtick outside of one
 * stand in no JSON text: the extent is broken there.
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
