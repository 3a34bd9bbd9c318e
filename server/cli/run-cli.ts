import { parseArgs } from 'node:util';
import { errorMessage } from '#lib/util/error-message';
import {
  type CliInput,
  COMMON_OPTIONS,
  type Command,
  createContext,
  type Option,
  type ParsedLine,
} from './command.ts';
import { approveCommand } from './commands/approve.ts';
import { backupCommand } from './commands/backup.ts';
import { callCommand } from './commands/call.ts';
import { devicesCommand } from './commands/devices.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { pairCommand, qrCommand } from './commands/pair.ts';
import { runsCommand } from './commands/runs.ts';
import { toolsCommand } from './commands/tools.ts';
import { CliError, EXIT_CODES, type ExitName } from './exit-codes.ts';
import { Output } from './output.ts';

function helpOf(command: Command): string {
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

function helpOfAll(commands: readonly Command[]): string {
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

/** A terminal that a person did not widen has so many. */
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

/** Runs one command; gives the exit code. Throws only what is a defect of this program. */
export async function runCli(input: CliInput): Promise<number> {
  const isJson = input.line.includes('--json');
  const { stdout: out, stderr: errors } = input.terminal;
  const output = new Output({ out, errors, isJson });
  try {
    return EXIT_CODES[await runCommand(input, output)].code;
  } catch (error) {
    if (input.signal.aborted) return EXIT_CODES.interrupted.code;
    if (!(error instanceof CliError)) throw error;
    output.note(`callboard: ${error.message}`);
    return EXIT_CODES[error.exit].code;
  }
}

async function runCommand(input: CliInput, output: Output): Promise<ExitName> {
  const [name = 'help', ...rest] = input.line;
  if (name === '--version' || name === '-V') return printed(output, input.version);
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) return noCommand(name, rest, output);
  const parsed = parseCommandLine(command, rest);
  if (parsed.values.help === true) return printed(output, helpOf(command));
  return command.run(createContext(parsed, input, output));
}

/** `help`, `help <command>`, or a name that there is none of. */
function noCommand(name: string, rest: readonly string[], output: Output): ExitName {
  if (!['help', '--help', '-h'].includes(name)) {
    const names = COMMANDS.map((one) => one.name).join(', ');
    throw new CliError('usage', `${name} is not a command; the commands are ${names}`);
  }
  const about = COMMANDS.find((one) => one.name === rest[0]);
  return printed(output, about === undefined ? helpOfAll(COMMANDS) : helpOf(about));
}

function printed(output: Output, text: string): ExitName {
  output.text(text);
  output.document({ text });
  return 'ok';
}

/** Options anywhere, each only once; what is not an option of the command is refused with its usage. */
function parseCommandLine(command: Command, line: readonly string[]): ParsedLine {
  const known = { ...COMMON_OPTIONS, ...command.options };
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { type }]) => [name, { type }]),
  );
  const { positionals, values } = parsed(command, line, options);
  const [fewest, most] = command.counts;
  if (values.help === true || (positionals.length >= fewest && positionals.length <= most)) {
    return { args: positionals, values };
  }
  const problem =
    positionals.length < fewest ? 'an argument is missing' : `${positionals[most]} is one too many`;
  throw new CliError('usage', `${problem}; ${usageOf(command)}`);
}

function parsed(
  command: Command,
  line: readonly string[],
  options: Record<string, { type: 'string' | 'boolean' }>,
): { positionals: string[]; values: Record<string, string | boolean | undefined> } {
  try {
    const { positionals, values } = parseArgs({
      args: [...line],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { positionals, values: { ...values } };
  } catch (error) {
    const [reason] = errorMessage(error).split('. ');
    throw new CliError('usage', `${reason}; ${usageOf(command)}`);
  }
}

const usageOf = ({ name, parameters }: Command): string =>
  `the command is "callboard ${[name, parameters].filter(Boolean).join(' ')}", and "callboard ${name} --help" has its options`;

export const COMMANDS: readonly Command[] = [
  {
    // The launcher runs the server itself, before this program; here the command has its help.
    name: 'start',
    parameters: '',
    summary: 'Start the server with its workbench, until Ctrl+C; data is in ./.callboard',
    counts: [0, 0],
    notes: [
      'Settings are environment variables, such as CALLBOARD_PORT; docs/configuration.md has them all.',
    ],
    async run() {
      throw new CliError('failed', 'the server is started by the program "callboard" alone');
    },
  },
  pairCommand,
  qrCommand,
  devicesCommand,
  toolsCommand,
  callCommand,
  runsCommand,
  approveCommand,
  doctorCommand,
  backupCommand,
  exportCommand,
];
