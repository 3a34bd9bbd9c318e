import type { ToolAnnotations } from '../protocol/tool-spec.ts';
import { matchTools } from './match.ts';

/** A run has read something from these tools first; null while there was none. */
export interface Taint {
  readonly private: string | null;
  readonly untrusted: string | null;
}

export const NO_TAINT: Taint = { private: null, untrusted: null };

/** A tool as a call had it. */
export interface MarkedTool {
  readonly toolName: string;
  /** Its description and its results are not the server's own. */
  readonly isUntrusted: boolean;
  readonly annotations: ToolAnnotations;
}

/** Which tools read what is private or untrusted, and which could carry it out. */
export interface Marks {
  /** Gives the taint of a run that now also has a result of the tool. */
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
      // MCP says so too: a tool that says nothing of the world reaches it; without effects it only reads there.
      (isUntrusted && annotations.openWorldHint !== false && annotations.readOnlyHint !== true),
  };
}

export const isTainted = (taint: Taint): boolean =>
  taint.private !== null && taint.untrusted !== null;
