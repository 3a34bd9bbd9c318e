import { argumentsOf, outputOf, type TurnEvent } from '../room.ts';
import { lineOf } from './chat-completion.ts';
import type { Answer, AnswerHead, Failure, OpenAiConfig, Tokens } from './openai-service.ts';
import { referenceTo } from './read-messages.ts';

interface Item {
  readonly id: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

type Event = { readonly type: string; readonly [field: string]: unknown };

const messageOf = (id: string, text: string, status: string): Item => ({
  id,
  type: 'message',
  role: 'assistant',
  status,
  content: [{ type: 'output_text', text, annotations: [] }],
});

/** An answer as a response: its items, and the events of a stream that makes them. */
export class ResponseItems implements Answer {
  readonly #head: AnswerHead;
  readonly #calls: OpenAiConfig['response_calls'];
  readonly #items: Item[] = [];
  readonly #texts = new Map<string, string>();
  #number = 0;

  constructor(head: AnswerHead, calls: OpenAiConfig['response_calls']) {
    this.#head = head;
    this.#calls = calls;
  }

  /** A program repeats the answer as its texts, or as the names of its items. */
  get forms(): readonly string[] {
    const names = this.#items.map(({ id }) => referenceTo(id));
    return [[...this.#texts.values()].join(' '), names.join(' ')];
  }

  begin(): Event[] {
    const response = this.#response('in_progress');
    return [
      this.#event('response.created', { response }),
      this.#event('response.in_progress', { response }),
    ];
  }

  take(event: TurnEvent): Event[] {
    switch (event.type) {
      case 'text':
        return this.#grow(event.messageId, event.delta);
      case 'text_end':
        return this.#endText(event.messageId);
      case 'tool_call':
        return this.#call(event);
      default:
        return [];
    }
  }

  #call(call: ToolCallEvent): Event[] {
    const { step, id: callId, name } = call;
    if (step === 'ended') return this.#result(call);
    if (step === 'begun' || this.#calls !== 'function_call') return [];
    const item = { call_id: callId, name, arguments: argsOf(call), status: 'completed' };
    return this.#whole({ id: `fc_${callId}`, type: 'function_call', ...item });
  }

  end(tokens: Tokens): Event[] {
    return [this.#event('response.completed', { response: this.whole(tokens) })];
  }

  failed(error: Failure): Event[] {
    return [this.#event('response.failed', { response: { ...this.#response('failed'), error } })];
  }

  whole({ input, output }: Tokens) {
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    return { ...this.#response('completed'), usage };
  }

  #result(call: ToolCallEvent): Event[] {
    const { id: callId, name, card } = call;
    const done = { output: outputOf(card), status: 'completed' };
    switch (this.#calls) {
      case 'none':
        return [];
      case 'function_call': {
        const of = { id: `fco_${callId}`, type: 'function_call_output', call_id: callId };
        return this.#whole({ ...of, ...done });
      }
      case 'mcp_call': {
        const of = { id: callId, type: 'mcp_call', server_label: 'callboard', name };
        return this.#whole({ ...of, arguments: argsOf(call), error: null, ...done });
      }
      case 'lines': {
        const id = `line_${callId}`;
        return [...this.#grow(id, lineOf(call)), ...this.#endText(id)];
      }
    }
  }

  #grow(id: string, delta: string): Event[] {
    const before = this.#texts.get(id);
    this.#texts.set(id, (before ?? '') + delta);
    const events: Event[] = [];
    if (before === undefined) {
      this.#items.push(messageOf(id, '', 'in_progress'));
      const item = { ...messageOf(id, '', 'in_progress'), content: [] };
      const part = { type: 'output_text', text: '', annotations: [] };
      events.push(this.#of('response.output_item.added', id, { item }));
      events.push(this.#of('response.content_part.added', id, { ...AT, item_id: id, part }));
    }
    return [...events, this.#of('response.output_text.delta', id, { ...AT, item_id: id, delta })];
  }

  #endText(id: string): Event[] {
    const text = this.#texts.get(id) ?? '';
    const item = messageOf(id, text, 'completed');
    this.#items[this.#place(id)] = item;
    const part = { type: 'output_text', text, annotations: [] };
    return [
      this.#of('response.output_text.done', id, { ...AT, item_id: id, text }),
      this.#of('response.content_part.done', id, { ...AT, item_id: id, part }),
      this.#of('response.output_item.done', id, { item }),
    ];
  }

  #whole(item: Item): Event[] {
    this.#items.push(item);
    return [
      this.#of('response.output_item.added', item.id, { item }),
      this.#of('response.output_item.done', item.id, { item }),
    ];
  }

  #place(id: string): number {
    return this.#items.findIndex((item) => item.id === id);
  }

  #of(type: string, id: string, fields: object): Event {
    return this.#event(type, { output_index: this.#place(id), ...fields });
  }

  #event(type: string, fields: object): Event {
    const event = { type, sequence_number: this.#number, ...fields };
    this.#number += 1;
    return event;
  }

  #response(status: string) {
    const { id, model, created: created_at } = this.#head;
    return {
      id: `resp_${id}`,
      object: 'response',
      created_at,
      status,
      model,
      error: null,
      incomplete_details: null,
      output: [...this.#items],
      usage: null,
    };
  }
}

const AT = { content_index: 0 };

type ToolCallEvent = Extract<TurnEvent, { type: 'tool_call' }>;

/** Arguments that were not written to their end are none. */
const argsOf = ({ step, card }: ToolCallEvent): string =>
  step === 'cut' ? '{}' : argumentsOf(card);
