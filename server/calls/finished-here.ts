import type { Call } from '#lib/call/call';
import type { CallEvent } from '#lib/call/call-event';
import type { Attachment } from '#lib/protocol/attachment';
import type { CallError } from '#lib/protocol/call-status';
import type { ToolAnswer } from '../tools/room.ts';
import { type ResultFilter, withNotes } from './result-filter.ts';

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
