import { canonicalJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';
import { isDeeperThan } from '#lib/json/measure-json';
import { readJson } from '#lib/json/parse-json';
import type { CallErrorReason } from '#lib/protocol/call-status';
import { LIMITS } from '#lib/protocol/limits';
import { stripInvisible } from '#lib/text/invisible';
import type { ClientArgument } from './clients.ts';
/** A model's word for a tool means one that it was offered, or none for this reason. */
export interface MeantTool {
  /** The tool's own name; for none what the model wrote, cut so that it can be recorded. */
  readonly toolName: string;
  /** Where several clients offer it: by what the model says which of them runs the call. */
  readonly client?: ClientArgument;
  readonly refusal?: { readonly reason: CallErrorReason; readonly message: string };
}

/** Stands for the name of a call that has none. No tool can be offered under it. */
export const NAMELESS = '(no name)';

const LONGEST_RECORDED = 128;
const MOST_LISTED = 20;

/**
 * Models put these around a name: a recipient, quotes, a channel's mark, brackets, a count. Then the
 * namespaces under which their APIs or templates describe tools.
 */
const AROUND = [/^.*\bto=/s, /^[\s"'`<]+/, /<.*$/s, /\(\)$/, /[:#]\d+$/, /[\s"'`>:.]+$/];
const NAMESPACE =
  /^(?:functions?|default_?api|(?:multi_)?tools?(?:_use|_call)?|api|mcp|assistant|commentary|callboard|namespace|default|call)(?:::|[.:/>]|__?)(?=.)/i;

/**
 * Finds what a name means among the tools of one step (AL100 to AL102). A name
 * that differs by case or separators alone means the one tool that it fits;
 * with two that fit, it means none; so does one with a namespace or a mark of its model around it. `offered` maps the names that the model
 * was given to the tools' own; `others` are the tools that may be called and were
 * not sent, for want of room: a name means one of them where it means none of those.
 */
export function createToolFinder(
  offered: ReadonlyMap<string, string>,
  others: readonly string[] = [],
) {
  const own = new Map([...offered].map(([modelName, toolName]) => [toolName, modelName]));
  const bySpelling = toolsBySpelling(offered);
  const othersBySpelling = toolsBySpelling(new Map(others.map((name) => [name, name])));

  const unsentBy = (name: string): string | undefined => {
    const unsent = othersBySpelling.get(looseSpelling(name)) ?? [];
    return unsent.length === 1 ? unsent[0] : unsent.find((one) => one === name);
  };

  const meantBy = (written: string): string | undefined => {
    for (const name of plainNames(written)) {
      const sent = bySpelling.get(looseSpelling(name)) ?? [];
      if (sent.length > 0) return sent.length === 1 ? sent[0] : undefined;
      const meant = unsentBy(name);
      if (meant !== undefined) return meant;
    }
    return undefined;
  };

  return (written: string): MeantTool => {
    const toolName = offered.get(written) ?? (own.has(written) ? written : undefined);
    if (toolName !== undefined) return { toolName };
    const names = [...offered.keys()];
    if (written === NAMELESS || written.trim() === '') {
      const message = `The call had no name, so nothing was run. ${listed(names)}`;
      return { toolName: NAMELESS, refusal: { reason: 'no_name', message } };
    }
    const meant = meantBy(written);
    if (meant !== undefined) return { toolName: meant };
    const recorded = cut(written);
    const message = `The tool ${JSON.stringify(recorded)} is not offered to you in this step, so nothing was run. ${listed(names)}`;
    return { toolName: recorded, refusal: { reason: 'not_offered', message } };
  };
}

function toolsBySpelling(tools: ReadonlyMap<string, string>): ReadonlyMap<string, string[]> {
  const bySpelling = new Map<string, string[]>();
  for (const [modelName, toolName] of tools) {
    for (const spelling of new Set([looseSpelling(modelName), looseSpelling(toolName)])) {
      bySpelling.set(spelling, [...(bySpelling.get(spelling) ?? []), toolName]);
    }
  }
  return bySpelling;
}

/** Gives the name as it was written, then without what models put around it, then without its namespaces. */
function plainNames(written: string): readonly string[] {
  const short = written.slice(0, LONGEST_RECORDED);
  const names = [written, AROUND.reduce((name, mark) => name.replace(mark, ''), short)];
  for (let name = names[1] ?? ''; NAMESPACE.test(name); names.push(name))
    name = name.replace(NAMESPACE, '');
  return names;
}

/** Two ways to write one name have this in common. */
const looseSpelling = (name: string): string => name.toLowerCase().replaceAll(/[\s._-]+/g, '');

/** For a record and a card: short, and nothing in it that does not show. */
function cut(name: string): string {
  const visible = stripInvisible(name.slice(0, LONGEST_RECORDED)).replaceAll(
    /[\p{Cc}\p{Cs}]/gu,
    '',
  );
  return name.length > LONGEST_RECORDED ? `${visible}…` : visible;
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'No tool is offered to you.';
  const shown = names.slice(0, MOST_LISTED).join(', ');
  return names.length > MOST_LISTED
    ? `You are offered ${names.length} tools, among them: ${shown}.`
    : `You are offered: ${shown}.`;
}

/** Models put a fence, a mark or a tag around the object, and behind it a bracket too many as well. */
const BEFORE = /^(?:\s|```\w*|<\|?\/?[\w:|=-]{1,40}>|json\b)*$/;
const BEHIND = /^(?:\s|```|<\|?\/?[\w:|=-]{1,40}>|[}\];,])*$/;

/**
 * The arguments in a text that is no JSON, where it is safe to say which they are (AL204): one object,
 * whatever stands around it, with line breaks in its strings, or several times the same.
 */
export function readArguments(text: string): Record<string, unknown> | undefined {
  if (text.length > 2 * LIMITS.argsBytes) return undefined;
  let rest = text;
  let found: Record<string, unknown> | undefined;
  for (let at = rest.indexOf('{'); at >= 0; at = rest.indexOf('{')) {
    if (!(found ? BEHIND : BEFORE).test(rest.slice(0, at))) return undefined;
    const { json, end } = firstObject(rest, at);
    const object = end < 0 ? undefined : parsed(json);
    if (!object || !isSame(found, object)) return undefined;
    found = object;
    rest = rest.slice(end);
  }
  return found && BEHIND.test(rest) ? found : undefined;
}

/** Strings, brackets, and all between them; a quote alone has no end. */
const TOKENS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[{}[\]]|[^"{}[\]]+|"/g;
/** JSON does not allow a control character in a string; an escaped one stays what it is. */
const CONTROL = /\\[\s\S]|[^ -\uffff]/g;
const escaped = (sign: string): string =>
  sign.length === 1 ? JSON.stringify(sign).slice(1, -1) : sign;

/** The object that begins there, with the control characters in its strings escaped; `end` -1 if it is cut. */
function firstObject(text: string, start: number): { readonly json: string; readonly end: number } {
  const json: string[] = [];
  let depth = 0;
  for (const { 0: token, index } of text.slice(start).matchAll(TOKENS)) {
    if (token === '"') break;
    json.push(token.startsWith('"') ? token.replace(CONTROL, escaped) : token);
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth === 0) return { json: json.join(''), end: start + index + token.length };
  }
  return { json: '', end: -1 };
}

function parsed(json: string): Record<string, unknown> | undefined {
  const value = readJson(json);
  return isRecord(value) && !isDeeperThan(value, LIMITS.jsonDepth) ? value : undefined;
}

/** An empty object may come before the arguments. */
const isSame = (before: object = {}, object: object): boolean =>
  Object.keys(before).length === 0 || canonicalJson(before) === canonicalJson(object);
