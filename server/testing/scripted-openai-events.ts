export interface ScriptedCall {
  /** Sent as it is, so that it can be empty, `null`, a number or, as `undefined`, missing. */
  readonly name: unknown;
  /** A string is sent as it is, so that it can be nonsense; anything else as JSON. */
  readonly args: unknown;
  /** Default `call_<n>`. May be empty, `null` or the same for several. */
  readonly id?: string | null;
}

/** One answer. With `status` an error instead of a stream. */
export interface ScriptedReply {
  readonly reasoning?: string;
  /**
   * What the provider wants back: of the thoughts at Anthropic, the encrypted thoughts of the Responses
   * API, and of the first call, else the text, at Gemini.
   */
  readonly signature?: string;
  /** Thoughts that are not shown at all, as Anthropic has them. */
  readonly redacted?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Milliseconds between two pieces. Default 0. */
  readonly pieceMs?: number;
  /** Characters of text or arguments in one piece. Default 1: letter by letter. */
  readonly pieceChars?: number;
  /** Before the piece of that number (0 is the first) the stream stands still until this resolves. */
  readonly stall?: { readonly at: number; readonly until: Promise<unknown> };
  /** After that many pieces: `abrupt` breaks the connection, `clean` ends it without a finish. */
  readonly cut?: { readonly after: number; readonly how: 'abrupt' | 'clean' };
  readonly finishReason?: 'length';
  /** Tokens; the chat API sends them only when it is asked to. Default: none, the Responses API 1 and 1. */
  readonly usage?: {
    readonly input: number;
    readonly output: number;
    readonly reasoning: number;
    readonly cached: number;
  };
  /** So many comments come first, each after `pieceMs`. */
  readonly comments?: number;
  /** The body as it is, in place of events. */
  readonly raw?: string;
  readonly status?: number;
  readonly error?: { readonly message: string; readonly code?: string };
  readonly headers?: Readonly<Record<string, string>>;
}

/** One Server-Sent Event. A piece is what a reply can stall at or be cut after. */
export interface ScriptedEvent {
  readonly name?: string;
  readonly data: string;
  readonly isPiece: boolean;
}

/** A reply as `chat.completion.chunk` objects. Part of the test double in `scripted-openai.ts`. */
export function* chatEvents(
  reply: ScriptedReply,
  model: string,
  includesUsage: boolean,
): Generator<ScriptedEvent> {
  const chunk = (delta: unknown, finish: string | null, isPiece: boolean): ScriptedEvent => ({
    isPiece,
    data: JSON.stringify({
      id: 'chatcmpl-scripted',
      object: 'chat.completion.chunk',
      created: 0,
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    }),
  });
  yield chunk({ role: 'assistant', content: '' }, null, false);
  for (const piece of pieces(reply, reply.reasoning))
    yield chunk({ reasoning_content: piece }, null, true);
  for (const piece of pieces(reply, reply.text)) yield chunk({ content: piece }, null, true);
  for (const [index, call] of (reply.calls ?? []).entries()) {
    const id = call.id === undefined ? `call_${index + 1}` : call.id;
    const start = { index, id, type: 'function', function: { name: call.name, arguments: '' } };
    yield chunk({ tool_calls: [start] }, null, true);
    for (const piece of pieces(reply, argumentText(call))) {
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] }, null, true);
    }
  }
  yield chunk({}, reply.finishReason ?? (reply.calls?.length ? 'tool_calls' : 'stop'), true);
  if (reply.usage && includesUsage) yield chatUsage(reply.usage, model);
  yield { data: '[DONE]', isPiece: false };
}

const chatUsage = (
  { input, output, reasoning, cached }: NonNullable<ScriptedReply['usage']>,
  model: string,
): ScriptedEvent => ({
  isPiece: false,
  data: JSON.stringify({
    ...{ id: 'chatcmpl-scripted', object: 'chat.completion.chunk', created: 0, model, choices: [] },
    usage: {
      ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  }),
});

/** A reply as events of the Responses API. */
export function* responsesEvents(reply: ScriptedReply, model: string): Generator<ScriptedEvent> {
  let sequence = 0;
  const event = (name: string, fields: object, isPiece = false): ScriptedEvent => {
    sequence += 1;
    return {
      name,
      isPiece,
      data: JSON.stringify({ type: name, sequence_number: sequence, ...fields }),
    };
  };
  const response = { id: 'resp_scripted', created_at: 0, model };
  yield event('response.created', { response: { ...response, status: 'in_progress' } });
  let output_index = 0;
  if (reply.signature !== undefined) {
    const item = { id: 'rs_scripted', type: 'reasoning', summary: [], encrypted_content: null };
    yield event('response.output_item.added', { output_index, item });
    const place = { item_id: item.id, output_index, summary_index: 0 };
    yield event('response.reasoning_summary_part.added', place);
    for (const delta of pieces(reply, reply.reasoning)) {
      yield event('response.reasoning_summary_text.delta', { ...place, delta }, true);
    }
    const done = { ...item, encrypted_content: reply.signature };
    yield event('response.output_item.done', { output_index, item: done });
    output_index += 1;
  }
  if (reply.text !== undefined) {
    const item = { id: 'msg_scripted', type: 'message', role: 'assistant', content: [] };
    yield event('response.output_item.added', { output_index, item });
    for (const delta of pieces(reply, reply.text)) {
      const place = { item_id: item.id, output_index, content_index: 0 };
      yield event('response.output_text.delta', { ...place, delta, logprobs: [] }, true);
    }
    const content = [{ type: 'output_text', text: reply.text, annotations: [] }];
    yield event('response.output_item.done', { output_index, item: { ...item, content } });
    output_index += 1;
  }
  for (const [index, call] of (reply.calls ?? []).entries()) {
    const id = `fc_${index + 1}`;
    const item = {
      id,
      type: 'function_call',
      call_id: call.id === undefined ? `call_${index + 1}` : call.id,
      name: call.name,
    };
    yield event(
      'response.output_item.added',
      { output_index, item: { ...item, arguments: '' } },
      true,
    );
    for (const delta of pieces(reply, argumentText(call))) {
      const fields = { item_id: id, output_index, delta };
      yield event('response.function_call_arguments.delta', fields, true);
    }
    const done = { ...item, arguments: argumentText(call), status: 'completed' };
    yield event('response.output_item.done', { output_index, item: done });
    output_index += 1;
  }
  const { input, output, reasoning, cached } = reply.usage ?? {
    ...{ input: 1, output: 1, reasoning: 0, cached: 0 },
  };
  const usage = {
    ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
    input_tokens_details: { cached_tokens: cached },
    output_tokens_details: { reasoning_tokens: reasoning },
  };
  const cut = reply.finishReason === 'length';
  const incomplete_details = cut ? { reason: 'max_output_tokens' } : null;
  const name = cut ? 'response.incomplete' : 'response.completed';
  yield event(name, { response: { ...response, usage, incomplete_details } }, true);
}

export const argumentText = (call: ScriptedCall): string =>
  typeof call.args === 'string' ? call.args : JSON.stringify(call.args);

export function pieces(reply: ScriptedReply, text = ''): string[] {
  const size = reply.pieceChars ?? 1;
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}
