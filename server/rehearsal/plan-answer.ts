import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { cutAndMark } from '#lib/json/cut-to-bytes';
import { isRecord } from '#lib/json/is-record';
import { readJson } from '#lib/json/parse-json';
import { withoutMark } from '#lib/text/untrusted';
import { fillArguments } from './fill-arguments.ts';
import { CONCEPTS } from './lexicon.ts';

const WORDS = {
  en: {
    disclaimer: '(I am the rehearsal model: rules, not an LLM.)',
    comma: ', ',
    calling: (names: readonly string[]) => `Calling ${names.join(' and ')}.`,
    needs: (name: string, keys: string, first: string) =>
      `${name} needs ${keys}. Please tell me, for example ${first}=…`,
    returned: 'returned: ',
    failed: 'did not succeed: ',
    noTools: 'There are no tools to call now.',
    noneFits: (names: string) => `I found no tool for this. These can be called now: ${names}.`,
  },
  zh: {
    disclaimer: '（我是演练模型：只有规则，不是大语言模型。）',
    comma: '、',
    calling: (names: readonly string[]) => `我来调用 ${names.join('、')}。`,
    needs: (name: string, keys: string, first: string) =>
      `${name} 还需要：${keys}。请在下一条消息里说明，例如 ${first}=…`,
    returned: '返回：',
    failed: '没有成功：',
    noTools: '现在没有可用的工具。',
    noneFits: (names: string) => `我没有找到与这句话相符的工具。现在可用的有：${names}。`,
  },
};

/** Han characters without kana are taken for Chinese; everything else is answered in English. */
const wordsFor = (text: string) =>
  /\p{Script=Han}/u.test(text) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)
    ? WORDS.zh
    : WORDS.en;

type Words = ReturnType<typeof wordsFor>;

/** The rehearsal model answers with text, then calls. */
export interface PlannedAnswer {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: Record<string, unknown> }[];
}

const MOST_LISTED = 12;
/** Characters that are read; patterns over more would take time, and no request is longer. */
const MOST_READ = 4_000;
/** Bytes of one result that are repeated to the person, who has the card beside it. */
const LONGEST_VALUE = 600;

/** The whole of the rehearsal model's mind: one answer from prompt and tools, always the same. */
export function planAnswer({
  prompt,
  tools: offered = [],
}: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>): PlannedAnswer {
  const { asked, results } = readPrompt(prompt);
  const words = wordsFor(asked);
  if (results.length > 0) {
    const lines = results.map((result) => report(result, words));
    return { text: [...lines, '', words.disclaimer].join('\n'), calls: [] };
  }
  const tools = offered.flatMap((tool) =>
    tool.type === 'function' ? [{ ...tool, description: withoutMark(tool.description ?? '') }] : [],
  );
  const chosen = matchTools(asked, tools);
  if (chosen.length > 0) return planCalls(chosen, asked, words);
  const names = tools.slice(0, MOST_LISTED).map(({ name }) => `\`${name}\``);
  const text = names.length === 0 ? words.noTools : words.noneFits(names.join(words.comma));
  return { text: `${text}\n\n${words.disclaimer}`, calls: [] };
}

function planCalls(chosen: readonly OfferedTool[], asked: string, words: Words): PlannedAnswer {
  const filled = chosen.map(({ name, inputSchema }) => ({
    name,
    ...fillArguments(inputSchema, asked),
  }));
  const calls = filled
    .filter(({ missing }) => missing.length === 0)
    .map(({ name, args }) => ({ name, args }));
  const questions = filled.flatMap(({ name, missing: [first, ...more] }) => {
    if (first === undefined) return [];
    const keys = [first, ...more].map((key) => `\`${key}\``).join(words.comma);
    return [words.needs(`\`${name}\``, keys, first)];
  });
  if (calls.length === 0) return { text: `${questions.join('\n')}\n\n${words.disclaimer}`, calls };
  const calling = words.calling(calls.map(({ name }) => `\`${name}\``));
  return { text: [calling, ...questions].join('\n'), calls };
}

interface ReportedResult {
  readonly name: string;
  readonly text: string;
}

/** Reads the person's last message, and what came back since. */
function readPrompt(prompt: LanguageModelV4Prompt): { asked: string; results: ReportedResult[] } {
  const at = prompt.findLastIndex((message) => message.role === 'user');
  const message = prompt[at];
  const parts = message?.role === 'user' ? message.content : [];
  const asked = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const results = prompt
    .slice(at + 1)
    .flatMap((one) => (one.role === 'tool' ? one.content : []))
    .flatMap((part) =>
      part.type === 'tool-result' ? [{ name: part.toolName, text: textOf(part.output) }] : [],
    );
  return { asked: asked.slice(0, MOST_READ), results };
}

function textOf(output: LanguageModelV4ToolResultPart['output']): string {
  if (output.type === 'execution-denied') return output.reason ?? '';
  if (output.type === 'json' || output.type === 'error-json') return JSON.stringify(output.value);
  if (output.type !== 'content') return inPlain(output.value);
  const texts = output.value.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return inPlain(texts.join('\n'));
}

/** The mark ends before the line on pictures that a model is not sent. That line is for models alone. */
const inPlain = (text: string): string =>
  withoutMark(text.replace(/\n\[Not shown to you: [^\n]*\]$/, ''));

/** A failed call has a reason, as the loop words it (rule MO4). */
function report({ name, text }: ReportedResult, words: Words): string {
  const value = readJson(text);
  const error = isRecord(value) && isRecord(value.error) ? value.error : {};
  const { code, message, executed } = error;
  const isFailure =
    typeof code === 'string' && typeof message === 'string' && executed !== undefined;
  return isFailure
    ? `- \`${name}\` ${words.failed}${message} (${code})`
    : `- \`${name}\` ${words.returned}${plain(text)}`;
}

/** A flat object reads better as words than as JSON. Descriptions of pictures follow it, a line each. */
function plain(text: string): string {
  const [, result = text, pictures = ''] =
    /^([\s\S]*?)((?:\n\[picture \d+ [^\n]*\])*)$/.exec(text) ?? [];
  const value = readJson(result);
  if (!isRecord(value)) return cutAndMark(text, LONGEST_VALUE);
  const fields = Object.entries(value).map(
    ([key, one]) => `${key} ${typeof one === 'string' ? one : JSON.stringify(one)}`,
  );
  return cutAndMark(fields.join(', ') + pictures.replaceAll('\n', ' '), LONGEST_VALUE);
}

interface OfferedTool {
  /** It is spelled as it is offered, e.g. `weather_query`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
}

/** These words do not describe what a tool is for. */
const EMPTY_WORDS = new Set(
  'a an and are as at be by can do does for from get give has have how i if in is it its make me my now of on or our out please run set show tell that the then this to tool use what when which will with you your call using data info query read write all any one new current value values result returns return person user'.split(
    ' ',
  ),
);

const ENOUGH = 3;

/** Why a tool may be meant: a word or a kind of request that it and the text have in common. */
interface Evidence {
  readonly of: string;
  readonly points: number;
}

/**
 * The tools that a text asks for, the best first (rules AL80 to AL84). A tool needs evidence that no
 * better one has used: "clipboard" means one of the clipboard's tools, while "a photo and a
 * screenshot" means two.
 */
function matchTools(text: string, tools: readonly OfferedTool[]): OfferedTool[] {
  const asked = new Set(wordsOf(text).map(stem));
  const scored = tools
    .map((tool) => ({ tool, ...score(text, asked, tool) }))
    .filter((one) => one.total >= ENOUGH)
    .toSorted((a, b) => b.total - a.total || (a.tool.name < b.tool.name ? -1 : 1));
  const used = new Set<string>();
  return scored.flatMap(({ tool, evidence }) => {
    const isNew = evidence.some((one) => !used.has(one.of));
    for (const one of evidence) used.add(one.of);
    return isNew ? [tool] : [];
  });
}

function score(text: string, asked: ReadonlySet<string>, tool: OfferedTool) {
  const name = tool.name.toLowerCase();
  if (name.includes('_') && text.toLowerCase().replaceAll('.', '_').includes(name)) {
    return { total: 20, evidence: [{ of: name, points: 20 }] };
  }
  const nameWords = wordsOf(tool.name);
  const isNamed = (concept: string) =>
    concept.split('|').some((one) => one.split(' ').every((word) => nameWords.includes(word)));
  const isDescribed = (concept: string) =>
    concept.split('|').some((one) => tool.description.toLowerCase().includes(one));
  const meant = CONCEPTS.filter(([pattern]) => pattern.test(text)).map(([, concept]) => concept);
  // Two words mean one tool of a family more surely than one word.
  const byKind = meant
    .filter(isNamed)
    .map((of): Evidence => ({ of, points: of.includes(' ') ? 6 : 4 }));
  // "A screenshot of this page" does not ask for `page_text`: how people ask for that is listed.
  const isOtherKind = byKind.length === 0 && CONCEPTS.some(([, concept]) => isNamed(concept));
  const points = isOtherKind ? ENOUGH / 3 : ENOUGH;
  const byName = [...byKind, ...sharedWords(nameWords, asked).map((of) => ({ of, points }))];
  // A few words in common with a description count as much as one of the name.
  const byDescription = [
    ...meant.filter((of) => !isNamed(of) && isDescribed(of)).map((of) => ({ of, points: 1.5 })),
    ...sharedWords(wordsOf(tool.description), asked)
      .slice(0, 4)
      .map((of) => ({ of, points: 1 })),
  ];
  const total = [...byName, ...byDescription].reduce((sum, one) => sum + one.points, 0);
  return { total, evidence: byName.length > 0 ? byName : byDescription };
}

function sharedWords(words: readonly string[], asked: ReadonlySet<string>): string[] {
  const stems = words.filter((word) => !EMPTY_WORDS.has(word)).map(stem);
  return [...new Set(stems)].filter((word) => asked.has(word));
}

/** Words of Latin scripts; of Chinese every pair of characters, as it has no blanks. */
function wordsOf(text: string): string[] {
  const spaced = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const words = spaced.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => {
    if (!/\p{Script=Han}/u.test(word)) return [word];
    const characters = Array.from(word);
    return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  });
}

/** `notes` and `note`, `ringing` and `ring`: enough to find a tool by. */
const stem = (word: string): string =>
  word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word.replace(/(?<=..)s$/, '');
