import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ToolSchema {
  readonly name: string;
  readonly schema: Record<string, unknown>;
}

/**
 * Schemas of tools in the shapes that servers of files, code hosting, chat, mail,
 * calendars, browsers, databases, clouds and devices offer, as the usual generators
 * write them (zod 3 and 4, pydantic, TypeBox, Go, by hand), with odd ones beside.
 */
export const TOOL_SCHEMAS: readonly ToolSchema[] = readFileSync(
  join(import.meta.dirname, 'tool-schemas.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
