import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import type { RunSettings } from '#lib/protocol/run';
import { given } from '#lib/util/given';

/** The model, asked with these settings: each provider's SDK has its own fields for them. */
export function withSettings(
  model: LanguageModelV4,
  { temperature, reasoning_effort: reasoning }: RunSettings,
): LanguageModelV4 {
  if (temperature === undefined && reasoning === undefined) return model;
  return changed(model, (params) => ({
    ...params,
    ...given({ temperature, reasoning }),
  }));
}

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * For Anthropic, which keeps a prompt only to a mark: behind the tools, the instructions, and the
 * last message, with which the prompt of the next step begins.
 */
export const withCacheMarks = (model: LanguageModelV4): LanguageModelV4 =>
  changed(model, ({ prompt, tools, ...params }) => {
    const system = prompt.findLastIndex(({ role }) => role === 'system');
    const marked = prompt.map((message, at) =>
      at === system || at === prompt.length - 1 ? withMark(message) : message,
    );
    const lastTool = tools?.at(-1);
    const markedTools =
      lastTool?.type === 'function' ? [...(tools ?? []).slice(0, -1), withMark(lastTool)] : tools;
    return { ...params, prompt: marked, ...(markedTools && { tools: markedTools }) };
  });

const withMark = <Part extends { providerOptions?: object }>(part: Part): Part => ({
  ...part,
  providerOptions: { ...part.providerOptions, ...MARK },
});

const changed = (
  model: LanguageModelV4,
  change: (params: LanguageModelV4CallOptions) => LanguageModelV4CallOptions,
): LanguageModelV4 =>
  wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      transformParams: async ({ params }) => change(params),
    },
  });

/**
 * For an API that refuses a history with calls where the request defines no tool: the tools of that
 * history are named then, and none of them may be called (AL3).
 */
export const withPastTools = (model: LanguageModelV4): LanguageModelV4 =>
  changed(model, (params) => {
    if (params.tools?.length) return params;
    const tools = toolsCalledIn(params.prompt);
    return tools.length === 0 ? params : { ...params, tools, toolChoice: { type: 'none' } };
  });

function toolsCalledIn(prompt: LanguageModelV4Prompt): LanguageModelV4FunctionTool[] {
  const names = prompt.flatMap(({ role, content }) =>
    role === 'assistant'
      ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []))
      : [],
  );
  return [...new Set(names)].map((name) => ({
    type: 'function',
    name,
    description: 'It was called before, and cannot be called now.',
    inputSchema: { type: 'object', properties: {} },
  }));
}
