import { CallParser } from './call-parser.ts';

/** Enough for a call; what is longer is an answer. */
const MOST_CHARS = 32 * 1024;
/** Of the forms that the parser does not read: DeepSeek's, Kimi's, gpt-oss's, Llama's, Qwen's, Gemma's, Mistral's, Phi's. */
const MARKS =
  /<[|｜][a-z_▁|｜]|\bto=functions\.|✿FUNCTION✿|\[TOOL_CALLS\]|<start_function_call>|```tool_code|^\s*functools\[|^\s*\[[\w.]+\(|\n```\w{0,20}\n\[?\{\s{0,9}"name"\s?:[^{}`]{1,150}"(?:arguments|parameters)"[^`]*```\s*$|^\s*(?:```\w*\s*)?\[?\s*\{\s*"(?:name|type|function|tool|tool_calls)"/i;

/**
 * The tool, by the name that the model was given, of which its text holds a call; undefined for none
 * (AL203). Such a call is not run: in native mode nothing keeps a model from repeating one that it read.
 */
export function callInText(text: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const parser = new CallParser({ names: new Set(names), kindOf: () => 'other' });
  const start = text.slice(0, MOST_CHARS);
  const events = [...parser.push(start), ...parser.end()];
  const called = events.flatMap((event) => (event.type === 'start' ? [event.name] : []));
  const known = called.find((name) => names.includes(name));
  return known ?? (MARKS.test(start) ? names.find((name) => start.includes(name)) : undefined);
}
