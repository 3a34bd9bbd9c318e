import { ALL_CLIENTS } from '#lib/protocol/tool-name';
import { hasExpression } from './lexicon.ts';

/** Values that a plain sentence may hold, read without regard to what they are for. */

function quotedStrings(text: string): string[] {
  const quoted = text.matchAll(
    /"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』|(?<![\p{L}\p{N}])'([^']+)'/gu,
  );
  return Array.from(quoted, (match) => match.slice(1).find((one) => one !== undefined) ?? '');
}

const numbersIn = (text: string): number[] =>
  Array.from(text.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?/g), (match) => Number(match[0]));

/** The longest arithmetic in the text, in the spelling of a calculator. */
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

/** "in New York", "for berlin today", "北京的天气". */
function placeIn(text: string): string | undefined {
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
function messageIn(text: string): string | undefined {
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
function jsonObjectIn(text: string): Record<string, unknown> | undefined {
  const found = text.match(/\{[\s\S]*\}/)?.[0];
  if (found === undefined) return undefined;
  try {
    return Object.fromEntries(Object.entries(JSON.parse(found)));
  } catch {
    return undefined;
  }
}

export interface FilledArguments {
  readonly args: Record<string, unknown>;
  /** Required ones that the text does not have. */
  readonly missing: string[];
}

type Schema = Readonly<Record<string, unknown>>;

/** What of the text is not used up yet: one value is for one argument. */
interface Source {
  readonly text: string;
  readonly quoted: string[];
  readonly numbers: number[];
}

/**
 * Fills a tool's arguments from a plain sentence (rules AL85 to AL89): what is
 * written as `name=value` or as JSON counts first, then each required argument is
 * read by its type and name. Optional ones are filled only when they are named.
 */
export function fillArguments(schema: unknown, text: string): FilledArguments {
  const root = asSchema(schema);
  const properties = Object.entries(asSchema(root?.properties) ?? {});
  const required = new Set(Array.isArray(root?.required) ? root.required : []);
  const args: Record<string, unknown> = { ...jsonObjectIn(text) };
  const missing: string[] = [];
  const source: Source = { text, quoted: quotedStrings(text), numbers: numbersIn(text) };
  for (const [name, raw] of properties) {
    if (Object.hasOwn(args, name)) continue;
    const property = withoutNull(asSchema(raw) ?? {});
    const value =
      named(name, property, text) ??
      (required.has(name) ? read(name, property, source) : unmistakable(name, property, text));
    if (value !== undefined) args[name] = value;
    else if (required.has(name)) missing.push(name);
  }
  return { args, missing };
}

/** `unit=celsius`, `days: 3`, `3 days`, and an enum's own word anywhere. */
function named(name: string, property: Schema, text: string): unknown {
  const word = escapeRegExp(name);
  const given = text.match(new RegExp(`\\b${word}\\s*[=:：]\\s*("[^"]*"|[^\\s,，;]+)`, 'i'))?.[1];
  if (given !== undefined) return convert(given.replace(/^"|"$/g, ''), property);
  if (Array.isArray(property.enum)) return wordOf(name, property.enum, text);
  if (!isNumber(property)) return undefined;
  const count = text.match(new RegExp(`(-?\\d+(?:\\.\\d+)?)\\s*${word}\\b`, 'i'))?.[1];
  return count === undefined ? undefined : Number(count);
}

/** The argument that names who runs a tool (`client-argument.ts`). */
const IS_CLIENT = /^(?:callboard_)?client$/;
const EACH_CLIENT =
  /\b(?:all|every|each)\s+(?:of\s+)?(?:(?:the|my|our|these)\s+)?(?:clients?|devices?|phones?|tabs?|browsers?)\b|(?:所有|全部|每个|每台|每部)(?:的)?(?:设备|客户端|手机|标签页|浏览器)/i;

/** "all" is a word of many sentences; each device runs a tool only where the devices are meant. */
function wordOf(name: string, values: readonly unknown[], text: string): unknown {
  if (!IS_CLIENT.test(name) || !values.includes(ALL_CLIENTS)) return enumIn(values, text);
  const one = enumIn(
    values.filter((value) => value !== ALL_CLIENTS),
    text,
  );
  return one ?? (EACH_CLIENT.test(text) ? ALL_CLIENTS : undefined);
}

/** What an optional argument may be given though it was not named: it can mean nothing else. */
function unmistakable(name: string, property: Schema, text: string): unknown {
  if (property.type !== 'string') return undefined;
  if (/^(?:city|place|town|location)$/i.test(name)) return placeIn(text);
  if (/^(?:url|uri|link)$/i.test(name)) return urlIn(text);
  if (/^sql$/i.test(name)) return sqlIn(text);
  return undefined;
}

function read(name: string, property: Schema, source: Source): unknown {
  if (property.const !== undefined) return property.const;
  if (Array.isArray(property.enum))
    return wordOf(name, property.enum, source.text) ?? property.default;
  if (isNumber(property)) return source.numbers.shift() ?? property.default;
  switch (property.type) {
    case 'boolean':
      return booleanIn(source.text) ?? property.default;
    case 'array':
      return arrayFrom(property, source) ?? property.default;
    case 'object':
      return jsonObjectIn(source.text) ?? property.default;
    default:
      return stringFor(name, property, source) ?? property.default;
  }
}

function stringFor(name: string, property: Schema, source: Source): string | undefined {
  const { text } = source;
  const about = `${name} ${property.description ?? ''} ${property.format ?? ''}`.toLowerCase();
  if (/sql/.test(about)) return sqlIn(text);
  if (/expr|formula|arithmetic/.test(about))
    return hasExpression(text) ? expressionIn(text) : source.quoted.shift();
  if (/\b(?:url|uri|link)\b/.test(about)) return urlIn(text);
  const quoted = source.quoted.shift();
  if (quoted !== undefined) return quoted;
  if (/city|place|town|location|address/.test(about)) return placeIn(text);
  return sqlOrNothing(name, text) ?? messageIn(text);
}

const sqlOrNothing = (name: string, text: string): string | undefined =>
  name === 'query' && /\bselect\b/i.test(text) ? sqlIn(text) : undefined;

function arrayFrom(property: Schema, source: Source): unknown[] | undefined {
  const items = asSchema(property.items);
  const found = items && isNumber(items) ? source.numbers.splice(0) : source.quoted.splice(0);
  return found.length > 0 ? found : undefined;
}

function booleanIn(text: string): boolean | undefined {
  if (/\b(?:off|false|no|disable|without)\b|关|不要/i.test(text)) return false;
  if (/\b(?:on|true|yes|enable|with)\b|开|打开/i.test(text)) return true;
  return undefined;
}

function enumIn(values: readonly unknown[], text: string): unknown {
  return values.find(
    (value) =>
      typeof value === 'string' &&
      new RegExp(`(?<![\\p{L}\\p{N}])${escapeRegExp(value)}(?![\\p{L}\\p{N}])`, 'iu').test(text),
  );
}

function convert(given: string, property: Schema): unknown {
  if (isNumber(property)) return Number.isNaN(Number(given)) ? undefined : Number(given);
  if (property.type === 'boolean') return booleanIn(given);
  return given;
}

const isNumber = (property: Schema): boolean =>
  property.type === 'number' || property.type === 'integer';

/** `string | null` is asked for as a string. */
function withoutNull(property: Schema): Schema {
  const choices = Array.isArray(property.anyOf) ? property.anyOf : [];
  const first = choices.map(asSchema).find((one) => one && one.type !== 'null');
  const type = Array.isArray(property.type)
    ? property.type.find((one) => one !== 'null')
    : property.type;
  return { ...property, ...first, ...(type === undefined ? {} : { type }) };
}

/** No hyphen: an expression of Unicode (`u`) refuses it escaped, and outside of brackets it means itself. */
const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

function asSchema(value: unknown): Schema | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value));
}
