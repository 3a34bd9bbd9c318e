import type { BoundOperand } from '#lib/call/call';
import { followPointer } from '#lib/schema/schema-reader';
import { ToolError } from './tool-error.ts';

/** What an argument of a call refers to, such as a file, as it is now. */
export interface Operand extends BoundOperand {
  /** For people; as the argument has it. */
  readonly name: string;
  /** The SHA-256 of its content in hexadecimal; not there where that was not read. */
  readonly contentHash?: string;
}

/** Throws when what was bound to a yes is not what is there now, whichever way it differs (T77). */
export function refuseChanged(
  bound: readonly BoundOperand[],
  now: readonly Operand[],
  args: unknown,
): void {
  const paths = new Set([...bound, ...now].map(({ path }) => path));
  const changed = [...paths].find((path) => hashesAt(bound, path) !== hashesAt(now, path));
  if (changed === undefined) return;
  const name = now.find(({ path }) => path === changed)?.name ?? textAt(args, changed);
  throw new ToolError(
    `${JSON.stringify(name)} changed after a person was asked about the call; it was not run. Make the call again, so that it is asked about as it is now.`,
    { executed: 'no', code: 'denied', reason: 'content_changed', params: { name } },
  );
}

const hashesAt = (operands: readonly BoundOperand[], at: string): string =>
  operands.flatMap(({ path, hash }) => (path === at ? [hash] : [])).join(' ');

/** What is there no more has its name in the arguments alone. */
function textAt(args: unknown, pointer: string): string {
  const value = followPointer(args, pointer);
  return typeof value === 'string' ? value : pointer;
}
