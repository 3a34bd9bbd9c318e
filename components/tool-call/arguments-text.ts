import { jsonLine } from '#lib/format/json-preview';

/** Short arguments on one line, longer ones a line each. */
const ONE_LINE_CHARS = 90;

/** Arguments to decide on, with hidden characters as they are. */
export function argumentsText(params: Record<string, unknown>): string {
  const line = jsonLine(params, ONE_LINE_CHARS + 1);
  return line.length <= ONE_LINE_CHARS ? line : JSON.stringify(params, null, 2);
}

/** Bytes of their JSON. */
export const argumentsBytes = (params: Record<string, unknown>): number =>
  new TextEncoder().encode(JSON.stringify(params)).length;
