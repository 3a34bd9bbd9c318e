import { hash } from 'node:crypto';
import { isToolName, LONGEST_TOOL_NAME, spellingOf } from '#lib/protocol/tool-name';

/** Of the SHA-256, as hex digits. */
const HASH_CHARS = 8;

const hashOf = (foreign: string): string => hash('sha256', foreign, 'hex').slice(0, HASH_CHARS);

/** `<id>.<tool>` where that is a name; else what is left of it, with a hash of the whole. */
export function nameFor(id: string, foreign: string): string {
  const plain = `${id}.${foreign}`;
  return isToolName(plain) ? plain : hashedName(id, foreign);
}

/** A name that no other tool of the server has. */
function hashedName(id: string, foreign: string): string {
  const end = `-${hashOf(foreign)}`;
  const cleaned = foreign.replace(/[^A-Za-z0-9_.-]/g, '_');
  return `${id}.${cleaned.slice(0, LONGEST_TOOL_NAME - id.length - 1 - end.length)}${end}`;
}

/**
 * The names of a server's tools, by what the server calls them. A name that was given stays, since
 * people decided on the tool by it; of two with one spelling the later one has a hash.
 */
export class ForeignNames {
  readonly #id: string;
  /** Whether models could take it for a tool of others. */
  readonly #isReserved: (name: string) => boolean;
  readonly #names = new Map<string, string>();
  readonly #spellings = new Set<string>();

  constructor(id: string, isReserved: (name: string) => boolean) {
    this.#id = id;
    this.#isReserved = isReserved;
  }

  /** It has this name already. */
  keep(foreign: string, name: string): void {
    this.#names.set(foreign, name);
    this.#spellings.add(spellingOf(name));
  }

  /** For each of a list, in its order; none of them is kept by that. */
  namesOf(all: readonly string[]): string[] {
    const taken = new Set(this.#spellings);
    return all.map((foreign) => {
      const known = this.#names.get(foreign);
      if (known !== undefined) return known;
      const plain = nameFor(this.#id, foreign);
      const isTaken = taken.has(spellingOf(plain)) || this.#isReserved(plain);
      const name = isTaken ? hashedName(this.#id, foreign) : plain;
      taken.add(spellingOf(name));
      return name;
    });
  }
}
