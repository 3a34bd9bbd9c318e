import type { Call } from '#lib/call/call';
import type { CallEvent } from '#lib/call/call-event';
import type { Attachment } from '#lib/protocol/attachment';
import type { CallError } from '#lib/protocol/call-status';
import type { HookNote } from '#lib/protocol/card';
import type { ToolAnswer } from '../tools/room.ts';

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

/** What a tool of the server came to. */
export type Outcome =
  | { readonly answer: ToolAnswer; readonly attachments?: readonly Attachment[] }
  | { readonly error: CallError; readonly attachments?: readonly Attachment[] };

export function toFinished(outcome: Outcome): CallEvent {
  const { attachments = [] } = outcome;
  if ('error' in outcome) {
    const files = attachments.length > 0 ? { fields: { attachments } } : {};
    return { type: 'finished_here', error: outcome.error, ...files };
  }
  const { answer } = outcome;
  const { output, display } = answer;
  const fields = { result: output ?? null, display, attachments };
  return { type: 'finished_here', error: null, fields };
}

/** The same, once the filter has looked at it. */
export async function toFiltered(
  results: ResultFilter,
  call: Call,
  outcome: Outcome,
): Promise<CallEvent> {
  const { message } = 'error' in outcome ? outcome.error : { message: '' };
  const given =
    'error' in outcome
      ? ({ ok: false, message } as const)
      : { ok: true as const, ...outcome.answer };
  const filtered = await results.filter(call, given);
  const noted = withNotes(call, filtered.notes);
  if ('withheld' in filtered) {
    const error = { code: 'result_invalid', message: filtered.withheld, executed: 'yes' } as const;
    return { ...toFinished({ error }), ...noted };
  }
  const { result, isReplaced } = filtered;
  if ('error' in outcome) {
    const error = { ...outcome.error, message: result.ok ? message : result.message };
    const { attachments = [] } = outcome;
    return { ...toFinished({ error, attachments: isReplaced ? [] : attachments }), ...noted };
  }
  // What replaced the output has none of the files that came with it.
  return { ...toFinished(isReplaced && result.ok ? { answer: result } : outcome), ...noted };
}
