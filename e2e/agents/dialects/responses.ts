import { z } from 'zod';
import { type Dialect, MODEL, type Turn } from './dialect.ts';

const toolSchema = z.looseObject({ name: z.string().optional() });

const requestSchema = z.object({
  stream: z.boolean().optional(),
  /** A namespace has tools of its own. */
  tools: z.array(toolSchema.extend({ tools: z.array(toolSchema).optional() })).optional(),
  input: z.union([z.string(), z.array(z.looseObject({ type: z.string().optional() }))]),
});

/** Between a namespace and the name of a tool, only here. */
const SEPARATOR = '\n';

/** `POST /v1/responses`. */
export const responses: Dialect = {
  read(body) {
    const { tools = [], input, stream } = requestSchema.parse(JSON.parse(body));
    const items = typeof input === 'string' ? [] : input;
    return {
      tools: tools.flatMap((tool) =>
        tool.tools
          ? tool.tools.map(({ name = '' }) => `${tool.name ?? ''}${SEPARATOR}${name}`)
          : [tool.name ?? ''],
      ),
      results: items.filter(({ type }) => type === 'function_call_output').length,
      streams: stream === true,
    };
  },
  stream(turn) {
    const response = whole(turn);
    const [item] = response.output;
    return [
      {
        type: 'response.created',
        response: { ...response, status: 'in_progress', output: [] },
      },
      { type: 'response.output_item.added', output_index: 0, item },
      ...(turn.type === 'text'
        ? [
            {
              ...{ type: 'response.output_text.delta', item_id: item?.id, output_index: 0 },
              ...{ content_index: 0, delta: turn.text },
            },
          ]
        : []),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ]
      .map((event, at) => ({ ...event, sequence_number: at }))
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('');
  },
  whole,
};

function whole(turn: Turn) {
  return {
    ...{ id: 'resp_1', object: 'response', created_at: 0, status: 'completed', model: MODEL },
    output: [itemOf(turn)],
    usage: {
      ...{ input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

function itemOf(turn: Turn) {
  if (turn.type === 'text') {
    return {
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: turn.text, annotations: [] }],
    };
  }
  const [first = '', second] = turn.name.split(SEPARATOR);
  return {
    ...{ type: 'function_call', id: `fc_${turn.id}`, call_id: turn.id, status: 'completed' },
    ...(second === undefined ? { name: first } : { namespace: first, name: second }),
    arguments: '{}',
  };
}
