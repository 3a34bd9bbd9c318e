import { COMMON_OPTIONS, type Command, type Option } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';

export function helpOf(command: Command): string {
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS });
  return [
    ...wrapped(
      `callboard ${[command.name, command.parameters].filter(Boolean).join(' ')}`,
      LINE_CHARS,
    ),
    '',
    ...indented(command.summary),
    '',
    ...inColumns(options.map(([name, option]) => [optionText(name, option), option.text])),
    ...(command.notes ? ['', ...indented(command.notes.join(' '))] : []),
  ].join('\n');
}

export function helpOfAll(commands: readonly Command[]): string {
  return [
    'callboard [command] [arguments] [options]',
    '',
    'Without a command it starts the server, as "start" does.',
    '',
    ...inColumns(
      commands.map(({ name, parameters, summary }) => [`${name} ${parameters}`.trim(), summary]),
    ),
    '',
    '"callboard <command> --help" has its options. Exit codes:',
    '',
    ...inColumns(Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code), meaning])),
  ].join('\n');
}

export const optionText = (name: string, { value }: Option): string =>
  value === undefined ? `--${name}` : `--${name} <${value}>`;

/** Of a terminal that a person did not widen. */
const LINE_CHARS = 80;
const MOST_FIRST_COLUMN = 24;

/** Two columns; what is longer than the first one has a line of its own. */
function inColumns(rows: readonly (readonly [string, string])[]): string[] {
  const longest = Math.max(...rows.map(([first]) => first.length));
  const width = Math.min(longest, MOST_FIRST_COLUMN);
  return rows.flatMap(([first, second]) => {
    const lines = wrapped(second, LINE_CHARS - width - 4);
    if (first.length > width) lines.unshift('');
    return lines.map((line, index) =>
      `  ${(index === 0 ? first : '').padEnd(width)}  ${line}`.trimEnd(),
    );
  });
}

const indented = (text: string): string[] =>
  wrapped(text, LINE_CHARS - 2).map((line) => `  ${line}`);

function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    const longer = last === '' ? word : `${last} ${word}`;
    if (last === '' || longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
