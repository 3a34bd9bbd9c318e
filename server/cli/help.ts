import { COMMON_OPTIONS, type Command, type Option } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';

export function helpOf(command: Command): string {
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS });
  return [
    `callboard ${[command.name, command.parameters].filter(Boolean).join(' ')}`,
    '',
    `  ${command.summary}`,
    '',
    ...inColumns(options.map(([name, option]) => [optionText(name, option), option.text])),
    ...(command.notes ? ['', ...command.notes.map((note) => `  ${note}`)] : []),
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

function inColumns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`);
}
