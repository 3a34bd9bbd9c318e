import { sameJson } from '#lib/json/equal';
import type { DeviceTool } from '#lib/protocol/device';

export const TOOL_FIELDS = [
  'display_name',
  'description',
  'parameters',
  'annotations',
  'timeout_ms',
] as const;

export interface ChangedField {
  readonly field: (typeof TOOL_FIELDS)[number];
  /** Null where there was none, or the tool is new. */
  readonly was: string | null;
  readonly now: string | null;
}

/** A person compares these: all fields of a new tool, and the fields of another one that differ. */
export const changedFields = (tool: DeviceTool, before: DeviceTool | null): ChangedField[] =>
  TOOL_FIELDS.flatMap((field) => {
    if (sameJson(tool[field] ?? null, before?.[field] ?? null)) return [];
    return [{ field, was: shown(before?.[field]), now: shown(tool[field]) }];
  });

function shown(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
