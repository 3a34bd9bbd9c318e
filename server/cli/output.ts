import { showControlCharacters, visibleJsonText } from '#lib/format/show-control-characters';

/** Where text goes; a stream of the process, or of a test. */
export interface Sink {
  readonly isTTY?: boolean | undefined;
  /** A terminal is so wide. */
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/**
 * A command prints by it. All of it passes one place, where control characters become visible: the
 * words of models, clients and pages cannot move a terminal's cursor or change its title (CX4).
 */
export class Output {
  readonly isJson: boolean;
  readonly #out: Sink;
  readonly #errors: Sink;

  constructor(streams: { out: Sink; errors: Sink; isJson: boolean }) {
    this.#out = streams.out;
    this.#errors = streams.errors;
    this.isJson = streams.isJson;
  }

  get isTerminal(): boolean {
    return this.#out.isTTY === true;
  }

  /** For people, nothing with `--json`: one line, whatever names and words of others are in it. */
  line(text = ''): void {
    if (!this.isJson) this.#out.write(`${showControlCharacters(text)}\n`);
  }

  /** Words of others that stand by themselves, in the lines that they have. */
  text(text: string): void {
    if (!this.isJson) this.#out.write(`${visible(text)}\n`);
  }

  /**
   * Columns as wide as their widest cell, each cell in one line; narrower where a terminal is. `none`
   * is the line in place of an empty one.
   */
  table(head: readonly string[], rows: readonly (readonly string[])[], none: string): void {
    if (rows.length === 0) return this.line(none);
    const most = this.isTerminal ? this.#out.columns : undefined;
    for (const row of alignColumns([head, ...rows], most)) this.line(row);
  }

  /** One document, only with `--json`. */
  document(value: unknown): void {
    if (this.isJson) this.#out.write(`${visibleJsonText(value)}\n`);
  }

  /** One line of NDJSON. */
  jsonLine(value: unknown): void {
    this.#out.write(`${visibleJsonText(value, 0)}\n`);
  }

  /** A picture that this program drew itself, with its own escape sequences. */
  picture(text: string): void {
    if (!this.isJson) this.#out.write(`${text}\n`);
  }

  /** Beside the result, on stderr. */
  note(text: string): void {
    this.#errors.write(`${showControlCharacters(text)}\n`);
  }
}

const visible = (text: string): string => showControlCharacters(text, { keepLayout: true });

const MOST_CELL_CHARS = 60;

/** The text in one line, cut to a length. */
export function inOneLine(text: string, most = MOST_CELL_CHARS): string {
  const line = showControlCharacters(text.replace(/\s+/g, ' ').trim());
  return line.length > most
    ? `${Array.from(line)
        .slice(0, most - 1)
        .join('')}…`
    : line;
}

const COLUMN_GAP = '  ';
/** A narrower cell is of no use. */
const FEWEST_CELL_CHARS = 20;

function alignColumns(
  rows: readonly (readonly string[])[],
  most = Number.POSITIVE_INFINITY,
): string[] {
  const cells = rows.map((row) => row.map((cell) => inOneLine(cell)));
  const widest = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const widths = narrowed(widest, most - COLUMN_GAP.length * (widest.length - 1));
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return inOneLine(cell, width).padEnd(width);
      })
      .join(COLUMN_GAP)
      .trimEnd(),
  );
}

/** The widest gives way first; never the first one: it has the ids, which people copy. */
function narrowed(widest: readonly number[], most: number): number[] {
  const widths = [...widest];
  const total = () => widths.reduce((sum, width) => sum + width, 0);
  while (total() > most) {
    const longest = Math.max(...widths.slice(1));
    if (longest <= FEWEST_CELL_CHARS) break;
    widths[widths.indexOf(longest, 1)] = longest - 1;
  }
  return widths;
}

/** A time of the wire, in seconds, as people and programs read it. */
export const timeText = (seconds: number | null): string =>
  seconds === null ? '-' : new Date(seconds * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
