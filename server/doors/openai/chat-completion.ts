import type { Card } from '#lib/protocol/card';
import { stripInvisible } from '#lib/text/invisible';
import { BREAK, outputOf, type TurnEvent } from '../room.ts';
import type { OpenAiConfig, Tokens } from './openai-service.ts';

export interface AnswerHead {
  /** The id of the message that is answered. */
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

  take(event: TurnEvent): string {
    if (event.type === 'text') return this.#add(event.messageId, event.delta);
    const isResult = event.type === 'tool_call' && event.step === 'ended';
    return isResult && this.#lines ? this.#add(event.id, lineOf(event)) : '';
  }

  #add(from: string, text: string): string {
    const delta = this.#last === undefined || this.#last === from ? text : BREAK + text;
    this.#last = from;
    this.#text += delta;
    return delta;
  }
}

const LONGEST_LINE = 200;

/** A call as one line of Markdown: as code, so that what a tool gave is neither a link nor a picture. */
export function lineOf({ name, card }: { readonly name: string; readonly card: Card }): string {
  const output = outputOf(card);
  const flat = stripInvisible(output.slice(0, 4 * LONGEST_LINE))
    .replace(/[\s`]+/g, ' ')
    .trim();
  const cut = flat.length > LONGEST_LINE || output.length > 4 * LONGEST_LINE;
  const shown = cut ? `${flat.slice(0, LONGEST_LINE).replace(/[\ud800-\udbff]$/, '')}…` : flat;
  return `> \`${name}\`: \`${shown || '-'}\``;
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
