import { StringDecoder } from 'node:string_decoder';

const MOST_BYTES = 8 * 1024;

/** The last of what a program wrote to its error output. */
export class OutputTail {
  #text = '';
  #decoder = new StringDecoder('utf8');

  add(chunk: Uint8Array): void {
    // What is longer is cut in any case: no more of it is decoded.
    const end = chunk.subarray(-2 * MOST_BYTES);
    this.#text = lastOf(`${this.#text}${this.#decoder.write(Buffer.from(end))}`);
  }

  get text(): string {
    return this.#text;
  }
}

/** From the beginning of a line on: half of a secret would not be known as one. */
function lastOf(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MOST_BYTES) return text;
  const cut = bytes.subarray(-MOST_BYTES).toString();
  const line = cut.indexOf('\n');
  return line < 0 ? '' : cut.slice(line + 1);
}
