import type { ToolAnnotations } from '../protocol/tool-spec.ts';
import { matchTools } from './match-tools.ts';

/** What a run has read so far: the tool that it came from at first; null while there was none. */
export interface Taint {
  readonly private: string | null;
  readonly untrusted: string | null;
}

export const NO_TAINT: Taint = { private: null, untrusted: null };

/** A tool as a call had it. */
export interface MarkedTool {
  readonly toolName: string;
  /** What it says of itself, and gives, is not the server's own. */
  readonly isUntrusted: boolean;
  readonly annotations: ToolAnnotations;
}

/** Which tools read what is private or untrusted, and which could carry it out. */
export interface Marks {
  /** What a run has read, once it also has a result of the tool. */
  add(taint: Taint, tool: MarkedTool): Taint;
  isWayOut(tool: MarkedTool): boolean;
}

export function compileMarks(definition: {
  readonly private: readonly string[];
  readonly untrusted: readonly string[];
  readonly way_out: readonly string[];
}): Marks {
  const isPrivate = matchTools(definition.private);
  const isNamedUntrusted = matchTools(definition.untrusted);
  const isNamedOut = matchTools(definition.way_out);
  return {
    add: (taint, { toolName, isUntrusted, annotations }) => ({
      private: taint.private ?? (isPrivate(toolName) ? toolName : null),
      untrusted:
        taint.untrusted ??
        (isUntrusted || annotations.openWorldHint === true || isNamedUntrusted(toolName)
          ? toolName
          : null),
    }),
    isWayOut: ({ toolName, isUntrusted, annotations }) =>
      isNamedOut(toolName) ||
      annotations.openWorldHint === true ||
      // As in MCP, a tool that says nothing of the world reaches it; where it has no effects, it is only read.
      (isUntrusted && annotations.openWorldHint !== false && annotations.readOnlyHint !== true),
  };
}

export const isTainted = (taint: Taint): boolean =>
  taint.private !== null && taint.untrusted !== null;
