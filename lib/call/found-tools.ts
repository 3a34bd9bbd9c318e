import { isRecord } from '../json/is-record.ts';
import { SEARCH_TOOLS } from '../protocol/run-tools.ts';
import { toModelName } from '../protocol/tool-name.ts';
import { markUntrusted } from '../text/untrusted.ts';

/**
 * A result as a model is sent it. Of `tools.search` that has each name in the spelling of models,
 * and the description of a client's tool marked (RT7); the record has both as they are.
 */
export function resultForModel(call: {
  readonly tool_name: string;
  readonly source: string;
  readonly result: unknown;
}): unknown {
  const { tool_name, source, result } = call;
  if (tool_name !== SEARCH_TOOLS || source !== 'server' || !isRecord(result)) return result;
  if (!Array.isArray(result.tools)) return result;
  return { ...result, tools: result.tools.map(forModel) };
}

function forModel(tool: unknown): unknown {
  if (!isRecord(tool) || typeof tool.name !== 'string') return tool;
  const { name, source, description } = tool;
  const isMarked = source === 'client' && typeof description === 'string';
  return {
    ...tool,
    name: toModelName(name),
    ...(isMarked ? { description: markUntrusted(description) } : {}),
  };
}
