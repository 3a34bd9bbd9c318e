import {
  argumentText,
  pieces,
  type ScriptedEvent,
  type ScriptedReply,
} from './scripted-openai-events.ts';

/** A reply as events of Anthropic's Messages API. Part of the test double in `scripted-openai.ts`. */
export function* anthropicEvents(reply: ScriptedReply, model: string): Generator<ScriptedEvent> {
  const event = (type: string, fields: object, isPiece = false): ScriptedEvent => ({
    name: type,
    isPiece,
    data: JSON.stringify({ type, ...fields }),
  });
  const { input, output } = reply.usage ?? { input: 1, output: 1 };
  const message = { id: 'msg_scripted', type: 'message', role: 'assistant', model, content: [] };
  const ended = { stop_reason: null, stop_sequence: null };
  const usage = { input_tokens: input, output_tokens: 0 };
  yield event('message_start', { message: { ...message, ...ended, usage } });
  let index = 0;
  if (reply.redacted !== undefined) {
    const block = { type: 'redacted_thinking', data: reply.redacted };
    yield event('content_block_start', { index, content_block: block });
    yield event('content_block_stop', { index });
    index += 1;
  }
  if (reply.reasoning !== undefined) {
    const block = { type: 'thinking', thinking: '', signature: '' };
    yield event('content_block_start', { index, content_block: block });
    for (const thinking of pieces(reply, reply.reasoning)) {
      yield event(
        'content_block_delta',
        { index, delta: { type: 'thinking_delta', thinking } },
        true,
      );
    }
    const signed = { type: 'signature_delta', signature: reply.signature ?? '' };
    yield event('content_block_delta', { index, delta: signed });
    yield event('content_block_stop', { index });
    index += 1;
  }
  if (reply.text !== undefined) {
    yield event('content_block_start', { index, content_block: { type: 'text', text: '' } });
    for (const text of pieces(reply, reply.text)) {
      yield event('content_block_delta', { index, delta: { type: 'text_delta', text } }, true);
    }
    yield event('content_block_stop', { index });
    index += 1;
  }
  for (const [number, call] of (reply.calls ?? []).entries()) {
    const id = call.id ?? `toolu_${number + 1}`;
    const block = { type: 'tool_use', id, name: call.name, input: {} };
    yield event('content_block_start', { index, content_block: block }, true);
    for (const partial_json of pieces(reply, argumentText(call))) {
      const delta = { type: 'input_json_delta', partial_json };
      yield event('content_block_delta', { index, delta }, true);
    }
    yield event('content_block_stop', { index });
    index += 1;
  }
  const reason = reply.calls?.length ? 'tool_use' : 'end_turn';
  const delta = { stop_reason: reply.finishReason ? 'max_tokens' : reason, stop_sequence: null };
  yield event('message_delta', { delta, usage: { output_tokens: output } }, true);
  yield event('message_stop', {});
}

/** A reply as Gemini streams it: calls come whole, and without ids. */
export function* geminiEvents(reply: ScriptedReply): Generator<ScriptedEvent> {
  const chunk = (parts: readonly object[], more: object = {}): ScriptedEvent => ({
    isPiece: true,
    data: JSON.stringify({
      candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
    }),
  });
  for (const text of pieces(reply, reply.reasoning)) yield chunk([{ text, thought: true }]);
  for (const text of pieces(reply, reply.text)) yield chunk([{ text }]);
  const signed = reply.signature === undefined ? {} : { thoughtSignature: reply.signature };
  if (!reply.calls?.length) yield chunk([{ text: '', ...signed }]);
  for (const [at, call] of (reply.calls ?? []).entries()) {
    const functionCall = { name: call.name, args: JSON.parse(argumentText(call)) };
    yield chunk([{ functionCall, ...(at === 0 ? signed : {}) }]);
  }
  const { input, output } = reply.usage ?? { input: 1, output: 1 };
  const finishReason = reply.finishReason ? 'MAX_TOKENS' : 'STOP';
  yield {
    isPiece: true,
    data: JSON.stringify({
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: '' }] }, finishReason }],
      usageMetadata: {
        ...{
          promptTokenCount: input,
          candidatesTokenCount: output,
          totalTokenCount: input + output,
        },
      },
    }),
  };
}
