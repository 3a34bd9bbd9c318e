/** Values that a plain sentence may hold, read without regard to what they are for. */

export function quotedStrings(text: string): string[] {
  const quoted = text.matchAll(
    /"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』|(?<![\p{L}\p{N}])'([^']+)'/gu,
  );
  return Array.from(quoted, (match) => match.slice(1).find((one) => one !== undefined) ?? '');
}

export const numbersIn = (text: string): number[] =>
  Array.from(text.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?/g), (match) => Number(match[0]));

/** The longest arithmetic in the text, in the spelling of a calculator. */
export function expressionIn(text: string): string | undefined {
  const run = /(?:\b(?:sqrt|sin|cos|tan|log|abs|round|pi|e)\b|[\d.+\-*/^%()×÷,\s])+/gi;
  const found = Array.from(text.matchAll(run), (match) => match[0].trim().replace(/[,.]+$/, ''));
  const usable = found.filter((one) => /\d/.test(one) && /[+\-*/^%×÷(]/.test(one));
  const longest = usable.toSorted((a, b) => b.length - a.length)[0];
  return longest?.replaceAll('×', '*').replaceAll('÷', '/').trim();
}

export const sqlIn = (text: string): string | undefined =>
  text
    .match(/\b(?:select|with|pragma|explain)\b[\s\S]+/i)?.[0]
    .replace(/[。"”]+$/, '')
    .trim();

export const urlIn = (text: string): string | undefined =>
  text.match(/https?:\/\/[^\s"'<>，。]+/)?.[0];

/** "in New York", "for berlin today", "北京的天气". */
export function placeIn(text: string): string | undefined {
  return chinesePlace(text) ?? namedPlace(text) ?? plainPlace(text);
}

const namedPlace = (text: string): string | undefined =>
  text
    .match(/\b(?:in|for|at|of)\s+(\p{Lu}[\p{L}'’.-]*(?:[ -]\p{Lu}[\p{L}'’-]*)*)/u)?.[1]
    ?.replace(/\.$/, '');

const NO_PLACE =
  /^(?:the|my|this|a|an|it|me|celsius|fahrenheit|degrees|general|english|chinese|case)$/i;

function plainPlace(text: string): string | undefined {
  const found = text.match(/\bin\s+(\p{L}[\p{L}'’-]+)/u)?.[1];
  return found !== undefined && !NO_PLACE.test(found) ? found : undefined;
}

/** The words before the place in a Chinese sentence. */
const LEADING =
  /告诉我|查一下|查询|看看|看一下|帮我|请问|知道|一下|今天|明天|现在|[查看和并请问说在跟与、]/g;

function chinesePlace(text: string): string | undefined {
  const before = text.match(/(\p{Script=Han}{2,}?)(?:今天|明天|现在|的)*(?:天气|气温|预报)/u)?.[1];
  const place = before?.split(LEADING).at(-1);
  return place !== undefined && place.length >= 2 ? place : undefined;
}

/** The message to send: after "that", "saying" or a colon, else after "me". */
export function messageIn(text: string): string | undefined {
  const patterns = [
    /(?:\bsaying|\bthat says|\bwith the text|[:：])\s*(.+?)\s*$/is,
    /\b(?:notify|remind|alert|tell) me (?:that|to|about|when)?\s*(.+?)[.。!！]?\s*$/is,
    /\b(?:copy|write|put|speak|share|say|send)\s+(?!the\b|my\b|it\b)(.+?)(?:\s+(?:to|into|on)\s+(?:the |my )?\w+)?[.。]?\s*$/is,
    /(?:通知我|提醒我|复制|朗读|分享|写入|内容是)\s*(.+?)[。！]?\s*$/s,
  ];
  for (const pattern of patterns) {
    const found = text.match(pattern)?.[1]?.trim();
    if (found) return found;
  }
  return undefined;
}

/** The first JSON object in the text, for those who give exactly what to send. */
export function jsonObjectIn(text: string): Record<string, unknown> | undefined {
  const found = text.match(/\{[\s\S]*\}/)?.[0];
  if (found === undefined) return undefined;
  try {
    return Object.fromEntries(Object.entries(JSON.parse(found)));
  } catch {
    return undefined;
  }
}
