import { isRecord } from '#lib/json/is-record';
import { readJson } from '#lib/json/parse-json';
import { ALL_CLIENTS } from '#lib/protocol/tool-name';

type Schema = Readonly<Record<string, unknown>>;

/** The text, and the values of it that no argument has taken: one value is for one argument. */
interface Source {
  readonly text: string;
  readonly quoted: string[];
  readonly numbers: number[];
}

interface FilledArguments {
  readonly args: Record<string, unknown>;
  /** The text does not have these required ones. */
  readonly missing: string[];
}

/**
 * Fills a tool's arguments from a plain sentence (rules AL85 to AL87): what is written as `name=value`
 * or as JSON counts first, then each required argument is read by its type and name. Optional ones are
 * filled only when they are named.
 */
export function fillArguments(schema: unknown, text: string): FilledArguments {
  const { properties, required: names } = asSchema(schema);
  const required = new Set(Array.isArray(names) ? names : []);
  const args: Record<string, unknown> = { ...jsonObjectIn(text) };
  const missing: string[] = [];
  const source: Source = { text, quoted: quotedStrings(text), numbers: numbersIn(text) };
  for (const [name, raw] of Object.entries(asSchema(properties))) {
    if (Object.hasOwn(args, name)) continue;
    const property = withoutNull(asSchema(raw));
    const optional = () => KINDS.find((kind) => kind.name.test(name))?.find(text);
    const value =
      named(name, property, text) ??
      (required.has(name) ? (read(name, property, source) ?? property.default) : optional());
    if (value !== undefined) args[name] = value;
    else if (required.has(name)) missing.push(name);
  }
  return { args, missing };
}

/** No hyphen: an expression of Unicode (`u`) refuses it escaped, and outside of brackets it means itself. */
const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

const asSchema = (value: unknown): Schema => (isRecord(value) ? value : {});
const isNumber = ({ type }: Schema): boolean => type === 'number' || type === 'integer';

/** `string | null` is asked for as a string. */
function withoutNull(property: Schema): Schema {
  const choices = Array.isArray(property.anyOf) ? property.anyOf.map(asSchema) : [];
  const types: unknown[] = [property.type].flat();
  const type = types.find((one) => one !== 'null');
  const choice = choices.find((one) => one.type !== 'null');
  return { ...property, ...(type === undefined ? {} : { type }), ...choice };
}

/** Reads `unit=celsius`, `days: 3`, `3 days`, and an enum's own word anywhere. */
function named(name: string, property: Schema, text: string): unknown {
  const word = escapeRegExp(name);
  const given = text.match(new RegExp(`\\b${word}\\s*[=:：]\\s*("[^"]*"|[^\\s,，;]+)`, 'i'))?.[1];
  if (given !== undefined) return convert(given.replace(/^"|"$/g, ''), property);
  if (Array.isArray(property.enum)) return wordOf(name, property.enum, text);
  if (!isNumber(property)) return undefined;
  const count = text.match(new RegExp(`(-?\\d+(?:\\.\\d+)?)\\s*${word}\\b`, 'i'))?.[1];
  return count === undefined ? undefined : Number(count);
}

function convert(given: string, property: Schema): unknown {
  if (isNumber(property)) return Number.isNaN(Number(given)) ? undefined : Number(given);
  return property.type === 'boolean' ? readJson(given) : given;
}

/** The argument of this name says who runs a tool. */
const IS_CLIENT = /^(?:callboard_)?client$/;
const EACH_CLIENT =
  /\b(?:all|every|each)\s+(?:of\s+)?(?:(?:the|my|our|these)\s+)?(?:clients?|devices?|phones?|tabs?|browsers?)\b|(?:所有|全部|每个|每台|每部)(?:的)?(?:设备|客户端|手机|标签页|浏览器)/i;

/** "all" is a word of many sentences; each device runs a tool only where the devices are meant. */
function wordOf(name: string, values: readonly unknown[], text: string): unknown {
  const isClient = IS_CLIENT.test(name) && values.includes(ALL_CLIENTS);
  const found = values
    .filter((value) => typeof value === 'string' && !(isClient && value === ALL_CLIENTS))
    .find((value) => {
      const word = escapeRegExp(String(value));
      return new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'iu').test(text);
    });
  return found ?? (isClient && EACH_CLIENT.test(text) ? ALL_CLIENTS : undefined);
}

function read(name: string, property: Schema, { text, quoted, numbers }: Source): unknown {
  if (Array.isArray(property.enum)) return undefined;
  if (isNumber(property)) return numbers.shift();
  if (isNumber(asSchema(property.items))) return numbers.length > 0 ? numbers.splice(0) : undefined;
  if (property.type !== 'string') return undefined;
  const about = `${name} ${property.description ?? ''} ${property.format ?? ''}`.toLowerCase();
  const kind = KINDS.find((one) => one.about.test(about));
  if (kind?.isUnmistakable) return kind.find(text);
  return quoted.shift() ?? (kind ?? { find: messageIn }).find(text);
}

function quotedStrings(text: string): string[] {
  const quoted = text.matchAll(
    /"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』|(?<![\p{L}\p{N}])'([^']+)'/gu,
  );
  return Array.from(quoted, (match) => match.slice(1).find((one) => one !== undefined) ?? '');
}

const numbersIn = (text: string): number[] =>
  Array.from(text.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?/g), (match) => Number(match[0]));

/** People who give exactly what to send write a JSON object. */
function jsonObjectIn(text: string): Record<string, unknown> | undefined {
  const found = readJson(text.match(/\{[\s\S]*\}/)?.[0] ?? '');
  return isRecord(found) ? found : undefined;
}

/** The longest arithmetic in the text counts, in the spelling of a calculator. */
function expressionIn(text: string): string | undefined {
  const run = /(?:\b(?:sqrt|sin|cos|tan|log|abs|round|pi|e)\b|[\d.+\-*/^%()×÷,\s])+/gi;
  const found = Array.from(text.matchAll(run), (match) => match[0].trim().replace(/[,.]+$/, ''));
  const usable = found.filter((one) => /\d/.test(one) && /[+\-*/^%×÷(]/.test(one));
  const longest = usable.toSorted((a, b) => b.length - a.length)[0];
  return longest?.replaceAll('×', '*').replaceAll('÷', '/').trim();
}

const sqlIn = (text: string): string | undefined =>
  text
    .match(/\b(?:select|with|pragma|explain)\b[\s\S]+/i)?.[0]
    .replace(/[。"”]+$/, '')
    .trim();

const urlIn = (text: string): string | undefined => text.match(/https?:\/\/[^\s"'<>，。]+/)?.[0];

/** The words before the place in a Chinese sentence. */
const LEADING =
  /告诉我|查一下|查询|看看|看一下|帮我|请问|知道|一下|今天|明天|现在|[查看和并请问说在跟与、]/g;
const NO_PLACE =
  /^(?:the|my|this|a|an|it|me|celsius|fahrenheit|degrees|general|english|chinese|case)$/i;

/** Finds the place of "in New York", "for berlin today", "北京的天气". */
function placeIn(text: string): string | undefined {
  const before = text.match(/(\p{Script=Han}{2,}?)(?:今天|明天|现在|的)*(?:天气|气温|预报)/u)?.[1];
  const chinese = before?.split(LEADING).at(-1);
  if (chinese !== undefined && chinese.length >= 2) return chinese;
  const capital = text.match(
    /\b(?:in|for|at|of)\s+(\p{Lu}[\p{L}'’.-]*(?:[ -]\p{Lu}[\p{L}'’-]*)*)/u,
  )?.[1];
  if (capital !== undefined) return capital.replace(/\.$/, '');
  const plain = text.match(/\bin\s+(\p{L}[\p{L}'’-]+)/u)?.[1];
  return plain !== undefined && !NO_PLACE.test(plain) ? plain : undefined;
}

/** A message stands after "that", "saying" or a colon, else behind what is to be done with it. */
const MESSAGES = [
  /(?:\bsaying|\bthat says|\bwith the text|[:：])\s*(.+?)\s*$/is,
  /(?:\b(?:notify|remind|alert|tell) me(?: that| to| about| when)?|\b(?:copy|write|put|speak|share|say|send)|通知我|提醒我|复制|朗读|分享|写入|内容是)\s*(?!the\b|my\b|it\b)(.+?)(?:\s+(?:to|into|on)\s+(?:the |my )?\w+)?[.。!！]?\s*$/is,
];

const messageIn = (text: string): string | undefined =>
  MESSAGES.map((pattern) => text.match(pattern)?.[1]?.trim()).find(Boolean);

/** A text of these kinds is known by the name of its argument, or by what is said about it. */
const KINDS = [
  {
    name: /^expression$/i,
    about: /expr|formula|arithmetic/,
    find: expressionIn,
    isUnmistakable: false,
  },
  { name: /^sql$/i, about: /sql/, find: sqlIn, isUnmistakable: true },
  {
    name: /^(?:url|uri|link)$/i,
    about: /\b(?:url|uri|link)\b/,
    find: urlIn,
    isUnmistakable: true,
  },
  {
    name: /^(?:city|place|town|location)$/i,
    about: /city|place|town|location|address/,
    find: placeIn,
    isUnmistakable: false,
  },
];
