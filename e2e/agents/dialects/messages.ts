import { z } from 'zod';
import { type Dialect, MODEL, type Turn } from './dialect.ts';

const requestSchema = z.object({
  stream: z.boolean().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  messages: z.array(
    z.object({
      content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
    }),
  ),
});

const USAGE = { input_tokens: 1, output_tokens: 1 };

/** `POST /v1/messages`. */
export const messages: Dialect = {
  read(body) {
    const request = requestSchema.parse(JSON.parse(body));
    const blocks = request.messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content,
    );
    return {
      tools: (request.tools ?? []).map(({ name }) => name),
      results: blocks.filter(({ type }) => type === 'tool_result').length,
      streams: request.stream === true,
    };
  },
  stream(turn) {
    const { content, stop_reason, ...message } = whole(turn);
    const [block] = content;
    const empty = turn.type === 'text' ? { ...block, text: '' } : block;
    const delta =
      turn.type === 'text'
        ? { type: 'text_delta', text: turn.text }
        : { type: 'input_json_delta', partial_json: '{}' };
    return [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: empty },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: USAGE },
      { type: 'message_stop' },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('');
  },
  whole,
};

function whole(turn: Turn) {
  const block =
    turn.type === 'text'
      ? { type: 'text', text: turn.text }
      : { type: 'tool_use', id: turn.id, name: turn.name, input: {} };
  return {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: MODEL },
    content: [block],
    stop_reason: turn.type === 'text' ? 'end_turn' : 'tool_use',
    ...{ stop_sequence: null, usage: USAGE },
  };
}
