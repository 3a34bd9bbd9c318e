import { TOOLS_PLACEHOLDER } from '#lib/protocol/tool-prompt';
import type { ToolDefinition } from '../model-tools.ts';
import { jsonWithoutTags } from './call-tags.ts';

/** Markdown, for a model without tool calling of its own, where the configuration has no other. */
export const TOOL_PROMPT = `# Tools

To call a tool, write this in your answer, outside of code blocks and quotes:

<tool_call>
{"name": "the tool's name", "arguments": {"key": "value"}}
</tool_call>

- Each block holds one JSON object. Write a line break within a string as \\n.
- Several blocks one after another are calls that run at the same time.
- End your answer after the last block. The results come in the next message, each between <tool_result> and </tool_result> with the same boundary. Never write a result yourself.
- To show a call without making it, put it in a code block.

The tools, one in each line, with the JSON Schema of its arguments as "parameters":

${TOOLS_PLACEHOLDER}`;

/** What a model reads of the tools that it can call. */
export function describeTools(template: string, tools: readonly ToolDefinition[]): string {
  const names = tools.map(({ name }) => name);
  // JSON on one line: what a client wrote as a description cannot end its own entry.
  const lines = tools.map(({ name, description, schema }) =>
    jsonWithoutTags(JSON.stringify({ name, description, parameters: schema }), names),
  );
  return template.replaceAll(TOOLS_PLACEHOLDER, () => lines.join('\n'));
}
