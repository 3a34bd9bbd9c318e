export { mapTexts } from './map-texts.ts';

/** This mark stands in place of a secret. Its kind says what was there, and nothing of the secret. */
export const redacted = (kind: string): string => `[redacted:${kind}]`;

const MARKER = /\[redacted:[a-z_]+\]/;

export const hasMarker = (text: string): boolean => MARKER.test(text);

/** A secret that is shorter would also be found where none is. */
export const LEAST_SECRET_CHARS = 8;

/**
 * Tokens by the form that their makers gave them, each with a text that it always holds; also where
 * they stand right behind a letter. Also one that was cut: what is shorter than this is of no use.
 * No form has a part of any length: a regular expression would take a stack as long as the text.
 */
/** No part of a word goes before: what escapes, colours and addresses have before it is none. */
const STARTS = (word: string): string =>
  `(?:(?<!${word})|(?<=\\\\[nrt]|%[\\da-fA-F]{2}|\\\\u[\\da-fA-F]{4}|\\x1b\\[[\\d;]{0,8}m))`;

const SHAPES: readonly { kind: string; hint: string; form: string }[] = [
  // Behind a letter only with what a maker puts after it: `task-…` is a word.
  { kind: 'api_key', hint: 'sk-', form: `${STARTS('[\\w-]')}sk-[\\w-]{20,512}` },
  {
    kind: 'api_key',
    hint: 'sk-',
    form: 'sk-(?:(?:proj|ant|svcacct|admin|or|live|test)-[\\w-]{20,512}|(?=[a-z\\d]{0,40}[A-Z])[A-Za-z\\d]{32,512})',
  },
  { kind: 'api_key', hint: 'AIza', form: 'AIza[\\w-]{20,255}' },
  ...['gho_', 'ghp_', 'ghs_', 'ghu_', 'ghr_'].map((hint) => ({
    kind: 'token',
    hint,
    form: `${hint}[A-Za-z0-9]{20,255}\\w{0,255}`,
  })),
  { kind: 'token', hint: 'github_pat_', form: 'github_pat_\\w{22,255}' },
  ...['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glagent-', 'xapp-'].map((hint) => ({
    kind: 'token',
    hint,
    form: `${hint}[\\w-]{20,255}`,
  })),
  { kind: 'token', hint: 'npm_', form: 'npm_[A-Za-z0-9]{20,64}\\w{0,255}' },
  { kind: 'token', hint: 'xox', form: 'xox[a-z]-[A-Za-z0-9-]{11,255}' },
  { kind: 'token', hint: 'cb_op_', form: 'cb_op_[\\w-]{20,255}' },
  { kind: 'token', hint: 'cb_agent_', form: 'cb_agent_[\\w-]{20,255}' },
  { kind: 'token', hint: 'cb_device_', form: 'cb_device_[\\w-]{20,255}' },
  { kind: 'private_key', hint: 'AGE-SECRET-KEY-1', form: 'AGE-SECRET-KEY-1[0-9A-Z]{40,80}' },
  ...['AKIA', 'ASIA'].map((hint) => ({
    kind: 'aws_key',
    hint,
    form: `${STARTS('[0-9A-Z]')}${hint}[0-9A-Z]{16}(?![0-9A-Z])`,
  })),
];

/** Where it ends is only seen once it is there. */
export const KEY_BEGIN = '-----BEGIN ';

/** The same as base64. */
const ENCODED_BEGIN = 'LS0tLS1CRUdJTi';

interface Rule {
  readonly kind: string;
  readonly hint: string;
  readonly without: Change;
}

/** Also as an address has them. */
export const BLANKS = '(?:[ \\t]|%20|\\+){1,3}';

const RULES: readonly Rule[] = [
  { kind: 'private_key', hint: 'PRIVATE', without: withoutKeys },
  { kind: 'private_key', hint: ENCODED_BEGIN, without: withoutEncodedKeys },
  {
    kind: 'private_key',
    hint: 'Private-Lines: ',
    without: (text) => text.replace(PUTTY_KEY, redacted('private_key')),
  },
  { kind: 'jwt', hint: 'eyJ', without: withoutJwts },
  ...SHAPES.map(({ kind, hint, form }) => {
    const pattern = new RegExp(form, 'g');
    return { kind, hint, without: (text: string) => text.replace(pattern, redacted(kind)) };
  }),
  ...['Bearer', 'bearer', 'BEARER'].map((hint) => {
    const pattern = new RegExp(
      `(?<=\\b${hint}${BLANKS})[A-Za-z0-9._~/-][A-Za-z0-9._~+/-]{15,8191}=*`,
      'g',
    );
    return {
      kind: 'token',
      hint,
      without: (text: string) => text.replace(pattern, redacted('token')),
    };
  }),
];

/** Its words may have other blanks between them, also as an address has them. */
const KEY_BEGINS =
  /-{4,5} ?BEGIN[^\n\r\\-]{1,60}?PRIVATE[^\n\r\\A-Z-]{1,8}KEY[^\n\r\\-]{0,12}-{4,5}/g;
export const KEY_ENDS =
  /-{4,5} ?END[^\n\r\\-]{1,60}?PRIVATE[^\n\r\\A-Z-]{1,8}KEY[^\n\r\\-]{0,12}-{4,5}/g;
/** This part of PuTTY's file is secret. */
const PUTTY_KEY =
  /Private-Lines: \d{1,4}(?:(?:\s|\\+[rn]){1,8}[A-Za-z0-9+/=]{1,80}(?![\w-]*:)){0,500}(?:(?:\s|\\+[rn]){1,8}Private-(?:MAC|Hash): [0-9a-f]{1,128})?/g;
/** In lines, or in one. */
const ENCODED_KEY = /[\w+/=-]{1,24000}(?:(?:\s|\\+[rn]){1,4}[\w+/=-]{40,100}){0,500}/y;
/** A key whose end is cut off is made of these, also as JSON text, in a diff, a quotation or a program. */
const KEY_BODY =
  /(?:[A-Z][A-Za-z]{1,20}(?:-[A-Z][A-Za-z]{1,20})?: [^\n\\]{1,100}|\\+[nrt"]?|[A-Za-z0-9+/=\s>|*#"'`,;%_-])/y;
/** Longer than any key, however it is wrapped. */
const MOST_KEY_CHARS = 24_000;

/** Private keys from their first line to their last, whatever stands between the lines. */
function withoutKeys(text: string): string {
  let kept = '';
  let from = 0;
  let end = nextEnd(text, 0);
  for (const { index, 0: first } of text.matchAll(KEY_BEGINS)) {
    if (index < from) continue;
    const inside = index + first.length;
    if (end && end.at < inside) end = nextEnd(text, inside);
    const isWhole = end && end.at - inside <= MOST_KEY_CHARS;
    kept += text.slice(from, index) + redacted('private_key');
    from = isWhole && end ? end.to : bodyEnd(text, inside);
  }
  return from === 0 ? text : kept + text.slice(from);
}

/** A file with a private key as base64, e.g. in a secret of Kubernetes. */
function withoutEncodedKeys(text: string): string {
  let kept = '';
  let from = 0;
  for (let at = text.indexOf(ENCODED_BEGIN); at >= 0; at = text.indexOf(ENCODED_BEGIN, at + 1)) {
    const head = text.slice(at, at + 72).replace(/[^\w+/].*/s, '');
    const decoded = atob(
      head
        .replaceAll('-', '+')
        .replaceAll('_', '/')
        .slice(0, head.length & ~3),
    );
    if (at < from || !/^-----BEGIN [A-Z0-9 ]{0,30}PRIVATE K/.test(decoded)) continue;
    ENCODED_KEY.lastIndex = at;
    ENCODED_KEY.test(text);
    kept += text.slice(from, at) + redacted('private_key');
    from = ENCODED_KEY.lastIndex;
  }
  return from === 0 ? text : kept + text.slice(from);
}

function nextEnd(text: string, from: number): { at: number; to: number } | undefined {
  KEY_ENDS.lastIndex = from;
  const found = KEY_ENDS.exec(text);
  return found ? { at: found.index, to: found.index + found[0].length } : undefined;
}

function bodyEnd(text: string, from: number): number {
  KEY_BODY.lastIndex = from;
  let at = from;
  while (at - from < MOST_KEY_CHARS && !text.startsWith(KEY_BEGIN, at) && KEY_BODY.test(text)) {
    at = KEY_BODY.lastIndex;
  }
  return at;
}

const JWT_PARTS = { first: 4_096, second: 8_192, third: 2_048 };
const IN_JWT = /[\w-]/;

/** Found by where its second part begins: the first may stand behind any letters. */
function withoutJwts(text: string): string {
  let kept = '';
  let from = 0;
  for (let dot = text.indexOf('.eyJ'); dot >= 0; dot = text.indexOf('.eyJ', dot + 1)) {
    const begin = text.indexOf('eyJ', runStart(text, dot, Math.max(from, dot - JWT_PARTS.first)));
    const second = runEnd(text, dot + 1, JWT_PARTS.second);
    const isJwt = dot - begin >= 11 && second - dot >= 12 && text[second] === '.';
    if (!isJwt) continue;
    kept += text.slice(from, begin) + redacted('jwt');
    from = runEnd(text, second + 1, JWT_PARTS.third);
    dot = from - 1;
  }
  return from === 0 ? text : kept + text.slice(from);
}

function runStart(text: string, end: number, least: number): number {
  let at = end;
  while (at > least && IN_JWT.test(text.charAt(at - 1))) at -= 1;
  return at;
}

function runEnd(text: string, from: number, most: number): number {
  let at = from;
  while (at - from < most && IN_JWT.test(text.charAt(at))) at += 1;
  return at;
}

/** No form is shorter. */
const LEAST_SHAPE_CHARS = 16;
export const HINT_TEXTS: readonly string[] = RULES.map(({ hint }) => hint);
export const HINTS = new RegExp(HINT_TEXTS.join('|'));

/**
 * Finds whether a text has a hint, by the rarest character of each: one look at a long text is
 * faster than one for each hint, and than one by their first letters, which are everywhere.
 */
const SOME_HINT = new RegExp(
  [
    'J(?<=eyJ)',
    '-(?:S(?<=AGE-S)ECRET-KEY-1|L(?<=Private-L)ines: |(?<=sk-)[\\w-]{20}|(?<=gl(?:pat|dt|rt|ptt|cbt|agent)-|xapp-|xox[a-z]-))',
    '_(?:pat_(?<=github_pat_)|(?:op|agent|device)_(?<=cb_\\w{2,6}_)|(?<=gh[oprsu]_|npm_))',
    `PRIVATE|${ENCODED_BEGIN}|AIza|AKIA|ASIA|[Bb]earer|BEARER`,
  ].join('|'),
);

/**
 * The text without what has the form of a token or a private key. Linear in the text; the same
 * object where there is none.
 */
export function redactShapes(text: string): string {
  // Most texts have none of them, and this is faster than to try each form.
  if (text.length < LEAST_SHAPE_CHARS || !SOME_HINT.test(text)) return text;
  let found = text;
  for (const { hint, without } of RULES) if (found.includes(hint)) found = without(found);
  return found;
}

export interface NamedSecret {
  readonly kind: string;
  readonly value: string;
}

/** `token`, `accessToken`, `access_token`, and not `tokens` or `token_count`. */
const SECRET_NAME = /(?:token|password|passwd|passphrase|secret|authorization|api[-_]?key)$/i;

/** A value under a name of a secret, at any depth, is not shown. */
export function withoutSecretNames(
  params: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      SECRET_NAME.test(name) ? redacted('by_name') : inside(value),
    ]),
  );
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside);
  if (typeof value !== 'object' || value === null) return value;
  return withoutSecretNames({ ...value });
}

type Change = (text: string) => string;

interface Known extends NamedSecret {
  /** The shortest beginning that is taken out. */
  readonly head: string;
}

/** So few are looked for one after the other, more of them all at once. */
const FEW = 16;

/**
 * Takes these secrets out of a text, looking for them to the letter, also as JSON text has them;
 * undefined when there are none to look for.
 */
export function valueRedactor(secrets: readonly NamedSecret[]): Change | undefined {
  // The longer one comes first, since it may hold the other.
  const values = secrets
    .filter(({ value }) => value.length >= LEAST_SECRET_CHARS)
    .flatMap(({ kind, value }) => spellingsOf(value).map((one) => ({ kind, value: one })))
    .toSorted((a, b) => b.value.length - a.value.length);
  if (values.length === 0) return undefined;
  const isFew = values.length <= FEW;
  const sure = isFew ? SURE_BEGINNING_CHARS : LEAST_BEGINNING_CHARS;
  const known = values.map((one) => ({
    ...one,
    head: one.value.slice(0, leastOf(one.value, sure)),
  }));
  if (!isFew) return manyRedactor(known);
  return (text) => {
    if (text.length < LEAST_SECRET_CHARS) return text;
    let found = text;
    for (const { kind, value } of known) {
      if (found.includes(value)) found = found.replaceAll(value, redacted(kind));
    }
    return known.reduce(withoutBeginnings, found);
  };
}

/** Also where it is cut, e.g. in a title or a quotation. */
function withoutBeginnings(text: string, { kind, value, head }: Known): string {
  let at = text.indexOf(head);
  if (at < 0) return text;
  let kept = '';
  let from = 0;
  for (; at >= 0; at = text.indexOf(head, from)) {
    kept += text.slice(from, at) + redacted(kind);
    from = at + commonLength(text, at, value);
  }
  return kept + text.slice(from);
}

/** How many characters of `value` stand at `at`. */
function commonLength(text: string, at: number, value: string): number {
  let length = 0;
  while (length < value.length && text.charCodeAt(at + length) === value.charCodeAt(length)) {
    length += 1;
  }
  return length;
}

/** More that begin alike are not compared: as much as the longest has is taken out. */
const MOST_COMPARED = 4;

/**
 * Looks for all of them in one pass, by their first eight characters, so that many secrets in a long
 * text are no more work than the text. At a place where many begin alike it may take out more.
 */
function manyRedactor(known: readonly Known[]): Change {
  const byStart = new Map<string, Known[]>();
  const starts = new Uint8Array(1 << 16);
  for (const one of known) {
    const start = one.value.slice(0, LEAST_SECRET_CHARS);
    const alike = byStart.get(start);
    if (alike) alike.push(one);
    else byStart.set(start, [one]);
    starts[startHash(start, 0)] = 1;
  }
  return (text) => {
    let kept = '';
    let from = 0;
    for (let at = 0; at + LEAST_SECRET_CHARS <= text.length; ) {
      const alike = starts[startHash(text, at)]
        ? byStart.get(text.slice(at, at + LEAST_SECRET_CHARS))
        : undefined;
      const length = alike ? lengthTaken(text, at, alike) : 0;
      if (length > 0) {
        kept += text.slice(from, at) + redacted(alike?.[0]?.kind ?? 'argument');
        from = at + length;
      }
      at += Math.max(1, length);
    }
    return from === 0 ? text : kept + text.slice(from);
  };
}

const startHash = (text: string, at: number): number =>
  (text.charCodeAt(at) * 0x1f35 +
    text.charCodeAt(at + 2) * 0x2b1 +
    text.charCodeAt(at + 5) * 0x5d +
    text.charCodeAt(at + 7)) &
  0xffff;

/** The longest come first. */
function lengthTaken(text: string, at: number, alike: readonly Known[]): number {
  const [longest] = alike;
  if (alike.length > MOST_COMPARED && longest) return longest.value.length;
  const lengths = alike.map(({ value, head }) => {
    const length = commonLength(text, at, value);
    return length >= head.length ? length : 0;
  });
  return Math.max(...lengths);
}

/** Shorter beginnings, e.g. `https://`, are of other texts as well. */
const LEAST_BEGINNING_CHARS = 16;
/** So long a beginning is of no other text, however long the secret is. */
const SURE_BEGINNING_CHARS = 64;

/** The host of an address is no secret, and other addresses have it too. */
const ORIGIN = /^https?:\/\/[^/?#@]*(?=[/?#])/i;

/** Half of it, but no more than `sure` characters. */
function leastOf(value: string, sure: number): number {
  const origin = ORIGIN.exec(value)?.[0].length;
  const pastOrigin = origin === undefined ? 0 : origin + LEAST_SECRET_CHARS;
  const half = Math.min(Math.ceil(value.length / 2), sure);
  const least = Math.max(LEAST_BEGINNING_CHARS, half, pastOrigin);
  return Math.min(value.length, least);
}

/** A value is looked for as it is, and as it stands within JSON text where that differs. */
export const spellingsOf = (value: string): string[] => [
  ...new Set([value, JSON.stringify(value).slice(1, -1)]),
];
