import { type AnswerPiece, lineOf } from './answer-pieces.ts';
import type { OpenAiConfig, Tokens } from './openai-service.ts';

/** Between texts of different messages, and lines of calls. */
const BREAK = '\n\n';

export interface AnswerHead {
  /** Of the message that is answered. */
  readonly id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
}

/** An answer as one text: what a chat completion is. No call is part of it as a call (rule OA6). */
export class ChatText {
  readonly #lines: boolean;
  #last: string | undefined;
  #text = '';

  constructor(calls: OpenAiConfig['chat_calls']) {
    this.#lines = calls === 'lines';
  }

  get text(): string {
    return this.#text;
  }

  take(piece: AnswerPiece): string {
    if (piece.type === 'text') return this.#add(piece.messageId, piece.delta);
    if (piece.type === 'result' && this.#lines) return this.#add(piece.callId, lineOf(piece));
    return '';
  }

  #add(from: string, text: string): string {
    const delta = this.#last === undefined || this.#last === from ? text : BREAK + text;
    this.#last = from;
    this.#text += delta;
    return delta;
  }
}

const usageOf = ({ input, output }: Tokens) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

export const completionOf = ({ id, ...head }: AnswerHead, content: string, tokens: Tokens) => ({
  id: `chatcmpl-${id}`,
  object: 'chat.completion',
  ...head,
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: usageOf(tokens),
});

/** The objects of a stream, in order. */
export function createChatChunks({ id, ...head }: AnswerHead, includesUsage: boolean) {
  const base = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', ...head };
  const usage = includesUsage ? { usage: null } : {};
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
    ...usage,
  });
  return {
    begin: () => chunk({ role: 'assistant', content: '' }, null),
    text: (content: string) => chunk({ content }, null),
    end: (tokens: Tokens) => [
      chunk({}, 'stop'),
      ...(includesUsage ? [{ ...base, choices: [], usage: usageOf(tokens) }] : []),
    ],
  };
}
