import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';

/**
 * For an API that refuses a history with calls where the request defines no tool: the tools of that
 * history are named then, and none of them may be called (AL3).
 */
export const withPastTools = (model: LanguageModelV4): LanguageModelV4 =>
  wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      async transformParams({ params }) {
        if (params.tools?.length) return params;
        const tools = toolsCalledIn(params.prompt);
        return tools.length === 0 ? params : { ...params, tools, toolChoice: { type: 'none' } };
      },
    },
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
