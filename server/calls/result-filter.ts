import type { Call } from '#lib/call/call';
import type { HookNote } from '#lib/protocol/card';

/** What a tool gave, before it is stored or shown. */
export type ToolResult =
  | { readonly ok: true; readonly output: unknown; readonly display?: unknown }
  | { readonly ok: false; readonly message: string };

export type FilteredResult =
  | {
      readonly result: ToolResult;
      /** The output is another one: attachments would show what it had. */
      readonly isReplaced: boolean;
      readonly notes: readonly HookNote[];
    }
  /** Nothing of it may be used. */
  | { readonly withheld: string; readonly notes: readonly HookNote[] };

/** Looks at results before they are stored, shown, or given to a model. */
export interface ResultFilter {
  /** Whether it looks at those of the tool; else nothing waits for it. */
  isFor(toolName: string): boolean;
  filter(call: Call, result: ToolResult): Promise<FilteredResult>;
}

/** As all of the card has them, with what was done now. */
export const withNotes = (call: Call, notes: readonly HookNote[]) =>
  notes.length === 0 ? {} : { shown: { hooks: [...(call.card.hooks ?? []), ...notes] } };
