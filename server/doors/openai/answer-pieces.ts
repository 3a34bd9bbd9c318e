import { stripInvisible } from '#lib/text/invisible';
import type { AgUiEvent } from '../ag-ui/room.ts';

/** What a turn gives, in the order in which it came. */
export type AnswerPiece =
  | { readonly type: 'text'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'text_end'; readonly messageId: string }
  | (Called & { readonly type: 'call' })
  | AnswerResult
  | { readonly type: 'end' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };

interface Called {
  readonly callId: string;
  readonly name: string;
  readonly args: string;
}

export type AnswerResult = Called & { readonly type: 'result'; readonly output: string };

/** Makes pieces of the events of one turn. */
export function createAnswerPieces(): (event: AgUiEvent) => AnswerPiece | undefined {
  /** Messages of people are not part of an answer. */
  const others = new Set<string>();
  const calls = new Map<string, { name: string; args: string }>();
  const of = (callId: string) => {
    const { name = '', args = '' } = calls.get(callId) ?? {};
    return { name, args: args || '{}' };
  };
  return (event) => {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        if (event.role === 'user') others.add(event.messageId);
        return undefined;
      case 'TEXT_MESSAGE_CONTENT': {
        const { messageId, delta } = event;
        return others.has(messageId) ? undefined : { type: 'text', messageId, delta };
      }
      case 'TEXT_MESSAGE_END': {
        const { messageId } = event;
        return others.has(messageId) ? undefined : { type: 'text_end', messageId };
      }
      case 'TOOL_CALL_START':
        calls.set(event.toolCallId, { name: event.toolCallName, args: '' });
        return undefined;
      case 'TOOL_CALL_ARGS': {
        const call = calls.get(event.toolCallId);
        if (call) call.args += event.delta;
        return undefined;
      }
      case 'TOOL_CALL_END': {
        return { type: 'call', callId: event.toolCallId, ...of(event.toolCallId) };
      }
      case 'TOOL_CALL_RESULT': {
        const { toolCallId: callId, content: output } = event;
        return { type: 'result', callId, ...of(callId), output };
      }
      case 'RUN_FINISHED':
        return { type: 'end' };
      case 'RUN_ERROR':
        return { type: 'failed', code: event.code, message: event.message };
      default:
        return undefined;
    }
  };
}

const LONGEST_LINE = 200;

/** A call as one line of Markdown: as code, so that what a tool gave is neither a link nor a picture. */
export function lineOf({ name, output }: AnswerResult): string {
  const flat = stripInvisible(output.slice(0, 4 * LONGEST_LINE))
    .replace(/[\s`]+/g, ' ')
    .trim();
  const cut = flat.length > LONGEST_LINE || output.length > 4 * LONGEST_LINE;
  const shown = cut ? `${flat.slice(0, LONGEST_LINE).replace(/[\ud800-\udbff]$/, '')}…` : flat;
  return `> \`${name}\`: \`${shown || '-'}\``;
}
