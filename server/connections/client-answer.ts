import { cutAndMark } from '#lib/json/cut-to-bytes';
import type { Attachment } from '#lib/protocol/attachment';
import type { ClientMessageOf } from '#lib/protocol/client-messages';
import { LIMITS } from '#lib/protocol/limits';
import type { ClientAnswer } from '../calls/room.ts';

/** An answer whose call is known, and whose content cannot be used. */
export interface UnreadableAnswer {
  readonly type: 'unreadable_answer';
  readonly id: string;
  readonly attempt: number | undefined;
  /** What is wrong with it. */
  readonly message: string;
}

/** A client's message as an answer; its attachments were stored before. */
export function toClientAnswer(
  message: ClientMessageOf<'tool_result' | 'tool_error'>,
  attachments: readonly Attachment[],
): ClientAnswer {
  if (message.type === 'tool_error') return toFailure(message.error, message.code);
  const { output, display } = message;
  return { ok: true, output, attachments, ...(display === undefined ? {} : { display }) };
}

/** The text stands on the card, so it has the limit of what a client shows there. */
export const toFailure = (text: string, code: string | undefined): ClientAnswer => ({
  ok: false,
  message: cutAndMark(text, LIMITS.statusBytes) || 'The tool failed and said nothing more',
  ...(code === undefined ? {} : { clientCode: code }),
});

/** An answer whose content cannot be used; it ends its call with that reason. */
export const unusableAnswer = (
  message: string,
  code: 'result_invalid' | 'result_too_large' = 'result_invalid',
) => ({ ok: 'unusable', code, message }) as const;
