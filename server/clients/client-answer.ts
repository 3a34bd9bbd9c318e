import type { Attachment } from '#lib/protocol/attachment';
import type { ClientMessageOf } from '#lib/protocol/client-messages';
import type { ClientAnswer } from '../calls/client-calls.ts';

/** A client's words as an answer; its attachments were stored before. */
export function toClientAnswer(
  message: ClientMessageOf<'tool_result' | 'tool_error'>,
  attachments: readonly Attachment[],
): ClientAnswer {
  if (message.type === 'tool_error') {
    const { code } = message;
    const shown = message.error || 'The tool failed and said nothing more';
    return { ok: false, message: shown, ...(code === undefined ? {} : { clientCode: code }) };
  }
  const { output, display } = message;
  return { ok: true, output, attachments, ...(display === undefined ? {} : { display }) };
}
