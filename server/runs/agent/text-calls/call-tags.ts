/** Names of tags around a call, or around several. */
const CALLS = [
  ...['tool_call', 'tool-call', 'toolcall', 'tool_calls', 'minimax:tool_call'],
  ...['function_call', 'function-call', 'functioncall', 'function_calls'],
  ...['|tool_call|', '|tool_call', '|python_tag|', 'invoke'],
];
/** Tags of calls that hold the name of the tool themselves: `<invoke name="x">`, `<function=x>`. */
const NAMED = ['function', 'invoke', 'tool_call'];
/** These hold no call: they are thoughts, and results, which a model can only make up. */
const OPAQUE = [
  ...['think', 'thinking', 'tool_result', 'tool_results', 'tool_response', 'tool_output'],
  'function_results',
];
const BRACKETS = ['[tool_call]', '[tool_calls]', '[/tool_call]', '[/tool_calls]'];

const KNOWN = [...CALLS, ...NAMED, ...OPAQUE];
const WITH_ATTRIBUTES = new Set([...NAMED, ...OPAQUE]);
const CLOSING = new Set([...CALLS, ...NAMED].map((name) => `</${name}>`));

const LONGEST_TAG = 160;
const TOOL = '[A-Za-z_][A-Za-z0-9_.-]{0,127}';
const NAMED_TAG = new RegExp(
  `^<(?:(function)\\s*=\\s*["']?(${TOOL})["']?|(function|invoke|tool_call)\\s+name\\s*=\\s*["'](${TOOL})["'])\\s*>$`,
);

/** Only of ASCII: `toLowerCase` makes a `k` of the Kelvin sign, which the escape below does not match. */
export const inLowerCase = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

export type Tag =
  | { readonly kind: 'call' }
  | { readonly kind: 'named'; readonly name: string }
  /** Named by the tag alone: `<weather_query>`. */
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'opaque'; readonly end: string }
  | { readonly kind: 'closing' };

/**
 * Tells whether text that begins with `<` or `[` is a tag, may become one (`maybe`), or neither
 * (`none`). `offered` are the names of tools that stand for tags of their own.
 */
export function readTag(text: string, offered: ReadonlySet<string>): Tag | 'maybe' | 'none' {
  if (text.length > LONGEST_TAG || /[\n\r]/.test(text) || text.indexOf('<', 1) > 0) return 'none';
  if (text.startsWith('[')) return readBracket(inLowerCase(text));
  return text.endsWith('>') ? readWhole(text, offered) : readBeginning(text, offered);
}

export const isClosingTag = (text: string): boolean => CLOSING.has(inLowerCase(text));

function readBracket(text: string): Tag | 'maybe' | 'none' {
  if (BRACKETS.includes(text)) return { kind: text[1] === '/' ? 'closing' : 'call' };
  return BRACKETS.some((one) => one.startsWith(text)) ? 'maybe' : 'none';
}

function readWhole(text: string, offered: ReadonlySet<string>): Tag | 'none' {
  const inside = text.slice(1, -1);
  const [, , called, , invoked] = NAMED_TAG.exec(text) ?? [];
  const name = called ?? invoked;
  if (name !== undefined) return { kind: 'named', name };
  if (isClosingTag(text)) return { kind: 'closing' };
  const [first = ''] = inLowerCase(inside).split(/\s/);
  if (OPAQUE.includes(first)) return { kind: 'opaque', end: `</${first}` };
  if (CALLS.includes(first) && first.length === inside.length) return { kind: 'call' };
  return offered.has(inside) ? { kind: 'tool', name: inside } : 'none';
}

function readBeginning(text: string, offered: ReadonlySet<string>): 'maybe' | 'none' {
  const [, slash = '', name = '', more = ''] = /^<(\/?)([^\s=]*)(.*)$/.exec(text) ?? [];
  const lower = inLowerCase(name);
  if (more !== '') return slash === '' && WITH_ATTRIBUTES.has(lower) ? 'maybe' : 'none';
  if (KNOWN.some((one) => one.startsWith(lower))) return 'maybe';
  if (slash !== '') return 'none';
  for (const one of offered) if (one.startsWith(name)) return 'maybe';
  return 'none';
}

const PROTOCOL = new RegExp(
  `<(?=/?(?:${[...KNOWN, 'parameter', 'arg_key', 'arg_value'].map(escaped).join('|')})(?![a-z0-9_]))`,
  'gi',
);
const PROTOCOL_BRACKET = /\[(?=\/?tool_calls?\])/gi;

/**
 * Text in which no tag can be read as one of a call or a result, nor as one of the tools that are
 * `offered`: their first sign is written as `&lt;`.
 */
export const withoutTags = (text: string, offered: Iterable<string>): string =>
  replaceTags(text, offered, { tag: '&lt;', bracket: '&#91;' });

/** The same for JSON text, which keeps its meaning. */
export const jsonWithoutTags = (json: string, offered: Iterable<string>): string =>
  replaceTags(json, offered, { tag: '\\u003c', bracket: '\\u005b' });

function replaceTags(
  text: string,
  offered: Iterable<string>,
  { tag, bracket }: { tag: string; bracket: string },
): string {
  const plain = text.replace(PROTOCOL, tag).replace(PROTOCOL_BRACKET, bracket);
  const names = [...offered].map(escaped);
  if (names.length === 0) return plain;
  return plain.replace(new RegExp(`<(?=/?(?:${names.join('|')})\\s*>)`, 'g'), tag);
}

const NOT_OF_A_NAME = /[^\p{L}\p{N}_.:/ -]/gu;

/** The name of a tool as the value of an attribute, from which nothing can get out. */
export const asAttribute = (name: string): string =>
  name.replace(NOT_OF_A_NAME, (sign) => `&#${sign.codePointAt(0)};`);

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
