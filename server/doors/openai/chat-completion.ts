import type { Card } from '#lib/protocol/card';
import { stripInvisible } from '#lib/text/invisible';
import { BREAK, outputOf, type TurnEvent } from '../room.ts';
import type { Answer, AnswerHead, Failure, OpenAiConfig, Tokens } from './openai-service.ts';

/** An answer as a chat completion, which is one text: no call is part of it as a call (rule OA6). */
export class ChatCompletion implements Answer {
  readonly #id: string;
  readonly #head: Omit<AnswerHead, 'id'>;
  readonly #hasLines: boolean;
  readonly #includesUsage: boolean;
  #last: string | undefined;
  #text = '';

  constructor(
    { id, ...head }: AnswerHead,
    calls: OpenAiConfig['chat_calls'],
    includesUsage: boolean,
  ) {
    this.#id = `chatcmpl-${id}`;
    this.#head = head;
    this.#hasLines = calls === 'lines';
    this.#includesUsage = includesUsage;
  }

  get forms(): readonly string[] {
    return [this.#text];
  }

  begin(): object[] {
    return [this.#chunk({ role: 'assistant', content: '' }, null)];
  }

  take(event: TurnEvent): object[] {
    if (event.type === 'text') return this.#add(event.messageId, event.delta);
    const isResult = event.type === 'tool_call' && event.step === 'ended';
    return isResult && this.#hasLines ? this.#add(event.id, lineOf(event)) : [];
  }

  end(tokens: Tokens) {
    const { usage: _, ...base } = this.#base();
    const usage = { ...base, choices: [], usage: usageOf(tokens) };
    return [this.#chunk({}, 'stop'), ...(this.#includesUsage ? [usage] : []), '[DONE]' as const];
  }

  failed({ code, message }: Failure): object[] {
    return [{ error: { message, type: 'server_error', param: null, code } }];
  }

  whole(tokens: Tokens): object {
    const message = { role: 'assistant', content: this.#text };
    return {
      id: this.#id,
      object: 'chat.completion',
      ...this.#head,
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: usageOf(tokens),
    };
  }

  #add(from: string, text: string): object[] {
    const content = this.#last === undefined || this.#last === from ? text : BREAK + text;
    this.#last = from;
    this.#text += content;
    return content === '' ? [] : [this.#chunk({ content }, null)];
  }

  #chunk(delta: object, finish_reason: string | null) {
    return { ...this.#base(), choices: [{ index: 0, delta, finish_reason }] };
  }

  /** A program that asks for the usage is sent it at the end, and reads it in each of the others. */
  #base() {
    const base = { id: this.#id, object: 'chat.completion.chunk', ...this.#head };
    return { ...base, ...(this.#includesUsage ? { usage: null } : {}) };
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
