import { cutAndMark } from '#lib/json/cut-to-bytes';

export type Language = 'en' | 'zh';

export interface ReportedResult {
  readonly name: string;
  readonly text: string;
}

/** Han characters without kana are taken for Chinese; everything else is answered in English. */
export const languageOf = (text: string): Language =>
  /\p{Script=Han}/u.test(text) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)
    ? 'zh'
    : 'en';

const DISCLAIMER: Record<Language, string> = {
  en: '(I am the rehearsal model: rules, not an LLM.)',
  zh: '（我是演练模型：只有规则，不是大语言模型。）',
};

/** Bytes of one result that are repeated to the person, who has the card beside it. */
const LONGEST_VALUE = 600;

export function announce(names: readonly string[], language: Language): string {
  const list = names.map((name) => `\`${name}\``);
  return language === 'zh' ? `我来调用 ${list.join('、')}。` : `Calling ${list.join(' and ')}.`;
}

export function askFor(
  missing: ReadonlyMap<string, readonly string[]>,
  language: Language,
): string {
  const lines = Array.from(missing, ([name, keys]) => {
    const list = keys.map((key) => `\`${key}\``).join(language === 'zh' ? '、' : ', ');
    return language === 'zh'
      ? `\`${name}\` 还需要：${list}。请在下一条消息里说明，例如 ${keys[0]}=…`
      : `\`${name}\` needs ${list}. Please tell me, for example ${keys[0]}=…`;
  });
  return lines.join('\n');
}

export function report(results: readonly ReportedResult[], language: Language): string {
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

export function notUnderstood(names: readonly string[], language: Language): string {
  const list = names.map((name) => `\`${name}\``).join(language === 'zh' ? '、' : ', ');
  const nothing = language === 'zh' ? '现在没有可用的工具。' : 'There are no tools to call now.';
  const some =
    language === 'zh'
      ? `我没有找到与这句话相符的工具。现在可用的有：${list}。`
      : `I found no tool for this. These can be called now: ${list}.`;
  return `${names.length === 0 ? nothing : some}\n\n${DISCLAIMER[language]}`;
}

export const withDisclaimer = (text: string, language: Language): string =>
  `${text}\n\n${DISCLAIMER[language]}`;

/** A flat object reads better as words than as JSON. Descriptions of pictures follow it, a line each. */
function plain(text: string): string {
  const [, result = text, pictures = ''] =
    /^([\s\S]*?)((?:\n\[(?:picture \d+|Not shown to you:) [^\n]*\])*)$/.exec(text) ?? [];
  const value = parse(result);
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
  const error = fieldsOf(fieldsOf(parse(text)).error);
  const { code, message, executed } = error;
  const isFailure =
    typeof code === 'string' && typeof message === 'string' && executed !== undefined;
  return isFailure ? `${message} (${code})` : undefined;
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
