import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { cutAndMark } from '#lib/json/cut-to-bytes';
import { readJson } from '#lib/json/read-json';
import { withoutMark } from '#lib/text/untrusted';
import { fillArguments } from './fill-arguments.ts';
import { CONCEPTS } from './lexicon.ts';

type Language = 'en' | 'zh';

interface ReportedResult {
  readonly name: string;
  readonly text: string;
}

/** Han characters without kana are taken for Chinese; everything else is answered in English. */
const languageOf = (text: string): Language =>
  /\p{Script=Han}/u.test(text) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)
    ? 'zh'
    : 'en';

const DISCLAIMER: Record<Language, string> = {
  en: '(I am the rehearsal model: rules, not an LLM.)',
  zh: '（我是演练模型：只有规则，不是大语言模型。）',
};

/** Bytes of one result that are repeated to the person, who has the card beside it. */
const LONGEST_VALUE = 600;

function announce(names: readonly string[], language: Language): string {
  const list = names.map((name) => `\`${name}\``);
  return language === 'zh' ? `我来调用 ${list.join('、')}。` : `Calling ${list.join(' and ')}.`;
}

function askFor(missing: ReadonlyMap<string, readonly string[]>, language: Language): string {
  const lines = Array.from(missing, ([name, keys]) => {
    const list = keys.map((key) => `\`${key}\``).join(language === 'zh' ? '、' : ', ');
    return language === 'zh'
      ? `\`${name}\` 还需要：${list}。请在下一条消息里说明，例如 ${keys[0]}=…`
      : `\`${name}\` needs ${list}. Please tell me, for example ${keys[0]}=…`;
  });
  return lines.join('\n');
}

function report(results: readonly ReportedResult[], language: Language): string {
  const lines = results.map(({ name, text }) => {
    const reason = reasonOf(text);
    if (reason === undefined) {
      const returned = language === 'zh' ? '返回：' : 'returned: ';
      return `- \`${name}\` ${returned}${plain(text)}`;
    }
    return `- \`${name}\` ${language === 'zh' ? '没有成功：' : 'did not succeed: '}${reason}`;
  });
  return [...lines, '', DISCLAIMER[language]].join('\n');
}

function notUnderstood(names: readonly string[], language: Language): string {
  const list = names.map((name) => `\`${name}\``).join(language === 'zh' ? '、' : ', ');
  const nothing = language === 'zh' ? '现在没有可用的工具。' : 'There are no tools to call now.';
  const some =
    language === 'zh'
      ? `我没有找到与这句话相符的工具。现在可用的有：${list}。`
      : `I found no tool for this. These can be called now: ${list}.`;
  return `${names.length === 0 ? nothing : some}\n\n${DISCLAIMER[language]}`;
}

const withDisclaimer = (text: string, language: Language): string =>
  `${text}\n\n${DISCLAIMER[language]}`;

/** A flat object reads better as words than as JSON. Descriptions of pictures follow it, a line each. */
function plain(text: string): string {
  const [, result = text, pictures = ''] =
    /^([\s\S]*?)((?:\n\[(?:picture \d+|Not shown to you:) [^\n]*\])*)$/.exec(text) ?? [];
  const value = readJson(result);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return cutAndMark(text, LONGEST_VALUE);
  }
  const fields = Object.entries(value).map(([key, one]) => `${key} ${scalar(one)}`);
  return cutAndMark(fields.join(', ') + pictures.replaceAll('\n', ' '), LONGEST_VALUE);
}

const scalar = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');

/** The reason of a failed call, as the loop words it (rule MO4). Undefined: it succeeded. */
function reasonOf(text: string): string | undefined {
  const error = fieldsOf(fieldsOf(readJson(text)).error);
  const { code, message, executed } = error;
  const isFailure =
    typeof code === 'string' && typeof message === 'string' && executed !== undefined;
  return isFailure ? `${message} (${code})` : undefined;
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

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

interface OfferedTool {
  /** As it is offered, e.g. `weather_query`. */
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

/** Words that do not describe what a tool is for. */
const EMPTY_WORDS = new Set(
  'a an and are as at be by can do does for from get give has have how i if in is it its make me my now of on or our out please run set show tell that the then this to tool use what when which will with you your call using data info query read write all any one new current value values result returns return person user'.split(
    ' ',
  ),
);

const NAME_SCORE = 4;
const ENOUGH = 3;

interface Scored {
  readonly tool: OfferedTool;
  readonly score: number;
  /** What of the text matches it, the strongest kind only. */
  readonly evidence: ReadonlySet<string>;
}

/**
 * The tools a text asks for, best first (rules AL80 to AL84). A tool needs
 * evidence that no better one has used: "clipboard" means one of the clipboard's
 * tools, while "a photo and a screenshot" means two.
 */
function matchTools(text: string, tools: readonly OfferedTool[]): OfferedTool[] {
  const scored = tools
    .map((tool) => score(text, tool))
    .filter((one) => one.score >= ENOUGH)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1));
  const used = new Set<string>();
  const chosen: OfferedTool[] = [];
  for (const { tool, evidence } of scored) {
    if ([...evidence].every((one) => used.has(one))) continue;
    for (const one of evidence) used.add(one);
    chosen.push(tool);
  }
  return chosen;
}

function score(text: string, tool: OfferedTool): Scored {
  const lower = text.toLowerCase();
  const nameWords = wordsOf(tool.name);
  if (isNamed(lower, tool.name)) return { tool, score: 20, evidence: new Set([tool.name]) };
  const byName = new Set<string>();
  const byDescription = new Set<string>();
  let total = 0;
  let isKnownKind = false;
  for (const concept of CONCEPTS) {
    const names = concept.named.some((named) => includesAll(nameWords, named));
    isKnownKind ||= names;
    if (!concept.pattern.test(text)) continue;
    if (names) {
      byName.add(concept.key);
      // Two words mean one tool of a family more surely than one word.
      total += NAME_SCORE + (concept.named.some((named) => named.includes(' ')) ? 2 : 0);
    } else if (concept.named.some((named) => tool.description.toLowerCase().includes(named))) {
      byDescription.add(concept.key);
      total += 1.5;
    }
  }
  const asked = new Set(wordsOf(text).map(stem));
  // "A screenshot of this page" does not ask for `page_text`: how people ask for that is listed.
  const perWord = isKnownKind && byName.size === 0 ? ENOUGH / 3 : ENOUGH;
  for (const word of nameWords) {
    if (EMPTY_WORDS.has(word)) total += asked.has(stem(word)) ? 0.5 : 0;
    else if (asked.has(stem(word))) {
      byName.add(stem(word));
      total += perWord;
    }
  }
  total += shared(asked, tool.description, byDescription);
  return { tool, score: total, evidence: byName.size > 0 ? byName : byDescription };
}

const includesAll = (words: readonly string[], phrase: string): boolean =>
  phrase.split(' ').every((word) => words.includes(word));

/** A few words in common with a description count as much as one of the name. */
function shared(asked: ReadonlySet<string>, description: string, evidence: Set<string>): number {
  let count = 0;
  for (const word of new Set(wordsOf(description))) {
    if (EMPTY_WORDS.has(word) || !asked.has(stem(word))) continue;
    evidence.add(stem(word));
    count += 1;
  }
  return Math.min(count, 4);
}

/** Its full name, in either spelling, is as plain as it gets. */
const isNamed = (lower: string, name: string): boolean =>
  name.includes('_') && lower.replaceAll('.', '_').includes(name.toLowerCase());

/** Words of Latin scripts; of Chinese every pair of characters, as it has no blanks. */
function wordsOf(text: string): string[] {
  const spaced = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const words = spaced.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => (/\p{Script=Han}/u.test(word) ? pairsOf(word) : [word]));
}

const pairsOf = (word: string): string[] => {
  const characters = Array.from(word);
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
};

/** `notes` and `note`, `ringing` and `ring`: enough to find a tool by. */
const stem = (word: string): string =>
  word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word.replace(/(?<=..)s$/, '');
