import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { withoutMark } from '#lib/text/untrusted';
import { fillArguments } from './fill-arguments.ts';
import { matchTools, type OfferedTool } from './match-tools.ts';
import {
  announce,
  askFor,
  languageOf,
  notUnderstood,
  type ReportedResult,
  report,
  withDisclaimer,
} from './replies.ts';

/** What the rehearsal model answers: text, then calls. */
export interface PlannedAnswer {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: Record<string, unknown> }[];
}

const MOST_LISTED = 12;
/** Characters that are read; patterns over more would take time, and no request is longer. */
const MOST_READ = 4_000;

/** The whole of the rehearsal model's mind: one answer from prompt and tools, always the same. */
export function planAnswer(
  options: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>,
): PlannedAnswer {
  const { asked, results } = readPrompt(options.prompt);
  const language = languageOf(asked);
  if (results.length > 0) return { text: report(results, language), calls: [] };
  const tools = offered(options.tools);
  const chosen = matchTools(asked, tools);
  if (chosen.length === 0) {
    const names = tools.map((tool) => tool.name).slice(0, MOST_LISTED);
    return { text: notUnderstood(names, language), calls: [] };
  }
  return planCalls(chosen, asked);
}

function planCalls(chosen: readonly OfferedTool[], asked: string): PlannedAnswer {
  const language = languageOf(asked);
  const missing = new Map<string, readonly string[]>();
  const calls: { name: string; args: Record<string, unknown> }[] = [];
  for (const tool of chosen) {
    const filled = fillArguments(tool.schema, asked);
    if (filled.missing.length > 0) missing.set(tool.name, filled.missing);
    else calls.push({ name: tool.name, args: filled.args });
  }
  const question = missing.size > 0 ? askFor(missing, language) : undefined;
  if (calls.length === 0) return { text: withDisclaimer(question ?? '', language), calls };
  const names = calls.map((call) => call.name);
  return { text: [announce(names, language), question].filter(Boolean).join('\n'), calls };
}

/** The person's last message, and what came back since. */
function readPrompt(prompt: LanguageModelV4Prompt): { asked: string; results: ReportedResult[] } {
  const at = prompt.findLastIndex((message) => message.role === 'user');
  const message = prompt[at];
  const parts = message?.role === 'user' ? message.content : [];
  const asked = parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .slice(0, MOST_READ);
  const results = prompt
    .slice(at + 1)
    .flatMap((one) => (one.role === 'tool' ? one.content : []))
    .flatMap((part) => (part.type === 'tool-result' ? [reported(part)] : []));
  return { asked, results };
}

function reported({ toolName, output }: LanguageModelV4ToolResultPart): ReportedResult {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { name: toolName, text: withoutMark(output.value) };
    case 'json':
    case 'error-json':
      return { name: toolName, text: JSON.stringify(output.value) };
    case 'execution-denied':
      return { name: toolName, text: output.reason ?? '' };
    case 'content': {
      const text = output.value.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      return { name: toolName, text: withoutMark(text.join('\n')) };
    }
  }
}

const offered = (tools: LanguageModelV4CallOptions['tools']): OfferedTool[] =>
  (tools ?? []).flatMap((tool) =>
    tool.type === 'function'
      ? [
          {
            name: tool.name,
            description: withoutMark(tool.description ?? ''),
            schema: tool.inputSchema,
          },
        ]
      : [],
  );
