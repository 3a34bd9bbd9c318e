import { hash } from 'node:crypto';
import type {
  AssistantModelMessage,
  FilePart,
  ModelMessage,
  TextPart,
  ToolModelMessage,
  UserModelMessage,
} from 'ai';
import { TOOLS_PLACEHOLDER } from '#lib/protocol/tool-prompt';
import type { ToolDefinition } from '../tools.ts';
import { asAttribute, jsonWithoutTags, withoutTags } from './call-tags.ts';

type Content = (TextPart | FilePart)[];

/**
 * The history for a model without tool calling of its own (AL130 to AL133): calls as it writes
 * them, results in a message of the user. In results and in what people wrote, tags of calls and
 * results, and those named like tools, are written with `&lt;`: a model that repeats such text calls nothing. Messages of one
 * role in a row become one, since the templates of many models want user and assistant in turns.
 */
export function toTextHistory(
  messages: readonly ModelMessage[],
  toolNames: readonly string[],
): ModelMessage[] {
  const escapes: Escapes = {
    plain: (text) => withoutTags(text, toolNames),
    plainJson: (json) => jsonWithoutTags(json, toolNames),
  };
  const joined: { role: 'user' | 'assistant'; content: Content }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = contentOf(message, escapes);
    const last = joined.at(-1);
    if (last?.role === role) last.content.push(...content);
    else joined.push({ role, content });
  }
  return joined.map(({ role, content }) => toMessage(role, content));
}

interface Escapes {
  readonly plain: (text: string) => string;
  readonly plainJson: (json: string) => string;
}

function contentOf(
  message: UserModelMessage | AssistantModelMessage | ToolModelMessage,
  escapes: Escapes,
): Content {
  const { plain } = escapes;
  if (message.role === 'tool') return message.content.flatMap((part) => resultOf(part, escapes));
  if (message.role === 'assistant') return callsAndText(message, escapes);
  const { content } = message;
  if (typeof content === 'string') return [textPart(plain(content))];
  return content.flatMap((part): Content => {
    if (part.type === 'text') return [textPart(plain(part.text))];
    return part.type === 'file' ? [part] : [];
  });
}

function callsAndText({ content }: AssistantModelMessage, { plainJson }: Escapes): Content {
  if (typeof content === 'string') return [textPart(content)];
  return content.flatMap((part): Content => {
    if (part.type === 'text') return [textPart(part.text)];
    if (part.type !== 'tool-call') return [];
    const call = JSON.stringify({ name: part.toolName, arguments: part.input });
    return [textPart(`<tool_call>\n${plainJson(call)}\n</tool_call>`)];
  });
}

function resultOf(part: ToolModelMessage['content'][number], { plain }: Escapes): Content {
  if (part.type !== 'tool-result') return [];
  const { output, toolName } = part;
  const text = output.type === 'text' ? output.value : JSON.stringify(output);
  const boundary = `boundary="${boundaryOf(part.toolCallId, text)}"`;
  const open = `<tool_result name="${asAttribute(toolName)}" ${boundary}>`;
  return [textPart(`${open}\n${plain(text)}\n</tool_result ${boundary}>`)];
}

/** No text holds its own hash, so none can hold its own end; and the same prompt stays the same. */
const boundaryOf = (callId: string, text: string): string =>
  hash('sha256', `${callId}\n${text}`).slice(0, 16);

const textPart = (text: string): TextPart => ({ type: 'text', text });

/** Text as one string, which every server takes; parts only where there are pictures. */
function toMessage(role: 'user' | 'assistant', content: Content): ModelMessage {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const files = content.filter((part) => part.type === 'file');
  if (role === 'assistant') return { role, content: text };
  return { role, content: files.length === 0 ? text : [textPart(text), ...files] };
}

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

/** A model reads this of the tools that it can call. */
export function describeTools(template: string, tools: readonly ToolDefinition[]): string {
  const names = tools.map(({ name }) => name);
  // JSON on one line: what a client wrote as a description cannot end its own entry.
  const lines = tools.map(({ name, description, schema }) =>
    jsonWithoutTags(JSON.stringify({ name, description, parameters: schema }), names),
  );
  return template.replaceAll(TOOLS_PLACEHOLDER, () => lines.join('\n'));
}
