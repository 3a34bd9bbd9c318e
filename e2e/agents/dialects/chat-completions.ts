import { z } from 'zod';
import { type Dialect, MODEL, type Turn } from './dialect.ts';

const requestSchema = z.object({
  stream: z.boolean().optional(),
  tools: z.array(z.object({ function: z.looseObject({ name: z.string() }) })).optional(),
  messages: z.array(z.looseObject({ role: z.string() })),
});

/** `POST /v1/chat/completions`. */
export const chatCompletions: Dialect = {
  read(body) {
    const request = requestSchema.parse(JSON.parse(body));
    return {
      tools: (request.tools ?? []).map((tool) => tool.function.name),
      results: request.messages.filter(({ role }) => role === 'tool').length,
      streams: request.stream === true,
    };
  },
  stream(turn) {
    const { message, finish_reason } = choiceOf(turn);
    const chunk = (delta: object, reason: string | null) => ({
      ...{ id: 'chat_1', object: 'chat.completion.chunk', created: 0, model: MODEL },
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    const lines = [chunk(message, null), chunk({}, finish_reason)].map((one) =>
      JSON.stringify(one),
    );
    return [...lines, '[DONE]'].map((line) => `data: ${line}\n\n`).join('');
  },
  whole: (turn) => ({
    ...{ id: 'chat_1', object: 'chat.completion', created: 0, model: MODEL },
    choices: [{ index: 0, ...choiceOf(turn) }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
};

function choiceOf(turn: Turn) {
  if (turn.type === 'text') {
    return { message: { role: 'assistant', content: turn.text }, finish_reason: 'stop' };
  }
  const call = { name: turn.name, arguments: '{}' };
  return {
    message: {
      ...{ role: 'assistant', content: null },
      tool_calls: [{ index: 0, id: turn.id, type: 'function', function: call }],
    },
    finish_reason: 'tool_calls',
  };
}
