import type { Context } from './command.ts';
import { CliError } from './exit-codes.ts';

/** A whole number from 1 to a million. */
export function readCount(context: Context, option: string): number | undefined {
  const text = context.text(option);
  if (text === undefined) return undefined;
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= 1_000_000) return count;
  throw new CliError('usage', `--${option} is ${text}; it must be a whole number from 1 on`);
}

const LONGEST_S = 7 * 24 * 3_600;

/** Seconds, fractions allowed, as milliseconds. */
export function readSeconds(context: Context, option: string): number | undefined {
  const text = context.text(option);
  if (text === undefined) return undefined;
  const seconds = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds > 0 && seconds <= LONGEST_S) return seconds * 1_000;
  throw new CliError('usage', `--${option} is ${text}; it must be seconds, such as 30 or 0.5`);
}
