import { canonicalJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';
import { isDeeperThan } from '#lib/json/measure-json';
import { readJson } from '#lib/json/parse-json';
import { LIMITS } from '#lib/protocol/limits';

/** What models put around the object: a fence, a mark, a tag; behind it a bracket too many as well. */
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
    if (!object) return undefined;
    const isSame = !found || isEmpty(found) || canonicalJson(found) === canonicalJson(object);
    if (!isSame) return undefined;
    found = object;
    rest = rest.slice(end);
  }
  return found && BEHIND.test(rest) ? found : undefined;
}

/** The object that begins there, with what JSON does not allow in its strings escaped; `end` -1 if it is cut. */
function firstObject(text: string, start: number): { readonly json: string; readonly end: number } {
  const json: string[] = [];
  let depth = 0;
  let isText = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (isText && sign === '\\') {
      json.push(text.slice(at, at + 2));
      at += 1;
      continue;
    }
    if (sign === '"') isText = !isText;
    json.push(isText && sign < ' ' ? JSON.stringify(sign).slice(1, -1) : sign);
    if (isText || sign === '"') continue;
    if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    if (depth === 0) return { json: json.join(''), end: at + 1 };
  }
  return { json: '', end: -1 };
}

function parsed(json: string): Record<string, unknown> | undefined {
  const value = readJson(json);
  return isRecord(value) && !isDeeperThan(value, LIMITS.jsonDepth) ? value : undefined;
}

const isEmpty = (object: object): boolean => Object.keys(object).length === 0;
