import { parseArgs } from 'node:util';
import { errorMessage } from '#lib/util/error-message';
import { COMMON_OPTIONS, type Command } from './command.ts';
import { CliError } from './exit-codes.ts';

export interface ParsedLine {
  readonly args: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

/** Options anywhere, each only once; what is not an option of the command is refused with its usage. */
export function parseCommandLine(command: Command, line: readonly string[]): ParsedLine {
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
