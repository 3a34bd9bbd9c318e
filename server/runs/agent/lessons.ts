import { APICallError } from 'ai';
import { isRecord } from '#lib/json/is-record';
import { keepNewest } from '#lib/limits/keep-newest';
import { CONTEXT_FULL, WITHOUT_TOOLS, wordsOf } from './notices.ts';
/** A refusal may be about these parts of what was sent. */
export interface Refusable {
  /** By blob id. */
  readonly images: readonly string[];
  /** The names are as the model reads them, in the order of the request. */
  readonly tools: readonly string[];
  /** By the estimate that history is trimmed by. */
  readonly tokens: number;
  /** Messages of the run before the person's last one. */
  readonly older: number;
}

/** Refusals of content; not of a key, an address, an account or for now. */
const OF_CONTENT = new Set([400, 413, 415, 422]);
/** Comes with HTTP 400, too, and no other content helps. */
const OF_ACCOUNT = /API_KEY_INVALID|API key not valid|credit balance|insufficient_quota|billing/i;

/**
 * Tells what a request has to be sent without after this refusal; undefined where nothing is left to mend
 * (AL220). What the provider names goes first. Where it names nothing, pictures go, then everything
 * that is not needed.
 */
export function lessonOf(error: unknown, sent: Refusable, lesson: Lesson): Lesson | undefined {
  const call = APICallError.isInstance(error) ? error : undefined;
  const text = `${wordsOf(error)} ${call?.responseBody ?? ''}`.slice(0, MOST_READ);
  const status = call?.statusCode;
  if ((status !== 413 && OF_ACCOUNT.test(text)) || WITHOUT_TOOLS.test(text)) return undefined;
  const isOfContent = status !== undefined && OF_CONTENT.has(status);
  // Some servers fail at what they do not take, or say it within a stream that had begun well.
  const mayBeOfContent = isOfContent || status === undefined || status < 300 || status >= 500;
  if (mayBeOfContent && CONTEXT_FULL.test(text)) return shorter(text, sent, lesson);
  const isOfImages = mayBeOfContent && OF_IMAGES.test(text) && sent.images.length > 0;
  if (!isOfContent) return isOfImages ? withoutImages(sent, lesson) : undefined;
  const body = isRecord(call?.requestBodyValues) ? call.requestBodyValues : {};
  const refused = { body, sent, lesson };
  return ofNamed(text, refused) ?? ofUnnamed(text, refused, status === 413);
}

function ofUnnamed(text: string, { body, sent, lesson }: Refused, isLarge: boolean) {
  if (sent.images.length > 0) return withoutImages(sent, lesson);
  if (isLarge) return shorter(text, sent, lesson);
  const optional = [...optionalFields(body), ...fieldsWithin(body)];
  return withoutFields(optional, lesson) ?? withoutOlder(sent, lesson);
}

/** Words that a filter refuses, and the like, are refused whatever their form; they end no conversation. */
const withoutOlder = ({ older }: Refusable, lesson: Lesson): Lesson | undefined =>
  older > lesson.older ? { ...lesson, older } : undefined;

const MOST_READ = 16_384;

interface Refused {
  readonly body: Readonly<Record<string, unknown>>;
  readonly sent: Refusable;
  readonly lesson: Lesson;
}

function ofNamed(text: string, { body, sent, lesson }: Refused): Lesson | undefined {
  const words = wordsIn(text);
  // Words such as "content" alone say nothing.
  const wanted = LACKS.test(text) ? text.toLowerCase() : (REASONING.exec(text)?.[0] ?? '');
  const lacked = fillingsOf(body, wordsIn(wanted)).map(({ field }) => field);
  const filled = new Set([...lesson.filled, ...lacked]);
  if (filled.size > lesson.filled.size) return { ...lesson, filled };
  const fields = [...optionalFields(body), ...fieldsWithin(body)].filter((name) => words.has(name));
  const unsent = withoutFields(fields, lesson);
  if (unsent) return unsent;
  if (OF_IDS.test(text) && !lesson.hasStrictIds) return { ...lesson, hasStrictIds: true };
  const isOfImages = OF_IMAGES.test(text) && sent.images.length > 0;
  const isOfAll = isOfImages && OF_SIGHT.test(text) && !OF_ONE_IMAGE.test(text);
  if (isOfAll) return { ...lesson, isBlind: true };
  return isOfImages ? withoutImages(sent, lesson) : ofTools(text, words, { sent, lesson });
}

function ofTools(
  text: string,
  words: ReadonlySet<string>,
  { sent, lesson }: Omit<Refused, 'body'>,
): Lesson | undefined {
  const index = OF_TOOL_AT.exec(text);
  const at = index ? sent.tools[Number(index[1] ?? index[2])] : undefined;
  const tools = OF_TOOLS.test(text) ? sent.tools.filter((name) => words.has(name)) : [];
  const refused = at === undefined ? tools : [at];
  if (refused.length === 0) return undefined;
  return { ...lesson, tools: new Set([...lesson.tools, ...refused]) };
}

const wordsIn = (text: string): ReadonlySet<string> => new Set(text.match(/[A-Za-z_][\w-]*/g));

const OF_IDS = /tool[\s_]?(?:call|use)[\s_]?id|call_id/i;
const OF_IMAGES =
  /image|picture|photo|vision|multi-?modal|modalit|media|base64|content[\s_]?(?:part|type)/i;
/** The model takes none at all. */
const OF_SIGHT = /support|vision|multi-?modal|modalit|text.only/i;
const OF_ONE_IMAGE =
  /process|decod|corrupt|invalid|too (?:large|big|small|many)|dimension|exceed|size|download/i;
const OF_TOOLS = /schema|function|tool|parameter/i;
const OF_TOOL_AT = /\btools"?[.[,]\s*(\d+)(?!.{0,40}declarations)|declarations[.[](\d+)/i;

function withoutImages({ images }: Refusable, lesson: Lesson): Lesson {
  return { ...lesson, images: new Set([...lesson.images, ...images]) };
}

/** Without them no request is one, or it means something else. */
const NEEDED = new Set([
  ...['model', 'messages', 'input', 'contents', 'system', 'systemInstruction', 'instructions'],
  ...['stream', 'store', 'tools', 'max_tokens', 'generationConfig', 'text'],
]);
const REASONING = /\breasoning_content\b/;
/** Not of the JSON around the words, which has `"code": null`. */
const LACKS = /(?<!": ?)\b(?:nil|null|none|empty|missing)\b/i;
/** Fields of messages, parts, tools and settings that a request can do without. */
const WITHIN = [
  ...['reasoning_content', 'cache_control', 'strict', 'temperature', 'thinkingConfig', 'effort'],
  ...['thinking', 'signature', 'thoughtSignature', 'extra_content'],
];

const optionalFields = (body: Refused['body']): string[] =>
  Object.keys(body).filter((name) => !NEEDED.has(name) && body[name] !== undefined);

function fieldsWithin(body: Refused['body']): string[] {
  const text = JSON.stringify(body);
  return WITHIN.filter((name) => text.includes(`"${name}":`));
}

function withoutFields(names: readonly string[], lesson: Lesson): Lesson | undefined {
  const more = names.filter((name) => !lesson.without.has(name));
  if (more.length === 0) return undefined;
  return { ...lesson, without: new Set([...lesson.without, ...more]) };
}

/** A limit that is below it holds nothing that is worth sending. */
const LEAST_TOKENS = 1_024;
const SHORTER = 0.6;

/** By the number that the provider names, where it names one that helps; else by what was sent. */
function shorter(text: string, { tokens }: Refusable, lesson: Lesson): Lesson | undefined {
  const known = lesson.contextTokens ?? Number.POSITIVE_INFINITY;
  const named = limitIn(text);
  const tried = Math.floor(Math.min(known, tokens) * SHORTER);
  const contextTokens = named !== undefined && named < known ? named : tried;
  return contextTokens < LEAST_TOKENS ? undefined : { ...lesson, contextTokens };
}

/** Behind words such as `maximum context length is`; or as in `212345 tokens > 200000 maximum`. */
const LIMIT =
  /(?:max(?:imum)?(?!_tokens)|limit(?:ed)?|context[ _](?:length|window|size)|n_ctx|allowed|available)[^\d]{0,60}?(\d[\d,_]{2,})|>\s*(\d[\d,_]{2,})/gi;

function limitIn(text: string): number | undefined {
  const found = [...text.matchAll(LIMIT)]
    .map(([, behind, above]) => Number((behind ?? above ?? '').replace(/[,_]/g, '')))
    .filter((limit) => limit >= LEAST_TOKENS);
  return found.length === 0 ? undefined : Math.min(...found);
}

type Message = Record<string, unknown>;
type Filling = (message: Message, toolNames: ReadonlyMap<unknown, unknown>) => unknown;

/** Fields of messages that some servers want, with what one that lacks it gets; undefined for others. */
const FILLINGS: Readonly<Record<string, Filling>> = {
  // Calls of other models, or from before they thought, have none: servers that ask for some take a blank.
  reasoning_content: ({ tool_calls, reasoning_content }) =>
    Array.isArray(tool_calls) && !reasoning_content ? ' ' : undefined,
  content: ({ content }) => (content === null ? '' : undefined),
  name: ({ role, name, tool_call_id: id }, toolNames) =>
    role === 'tool' && !name ? toolNames.get(id) : undefined,
};

/** Gives what the messages of a request lack of these fields. */
export function* fillingsOf(body: unknown, fields: ReadonlySet<string>) {
  const messages = [isRecord(body) ? body.messages : []].flat().filter(isRecord);
  const calls = messages.flatMap((message) => message.tool_calls ?? []).filter(isRecord);
  const toolNames = new Map(
    calls.map(({ id, function: called }) => [id, isRecord(called) ? called.name : undefined]),
  );
  for (const [field, fillingOf] of Object.entries(FILLINGS)) {
    for (const message of fields.has(field) ? messages : []) {
      const value = fillingOf(message, toolNames);
      if (value !== undefined) yield { message, field, value };
    }
  }
}

/** How requests to a model differ from what is usual, since its provider refused such ones (AL220). */
export interface Lesson {
  /** Fields of the request's JSON that are not sent. */
  readonly without: ReadonlySet<string>;
  /** Fields that no message lacks that is sent. */
  readonly filled: ReadonlySet<string>;
  /** Ids of calls have nine letters or digits. */
  readonly hasStrictIds: boolean;
  /** It takes no pictures. */
  readonly isBlind: boolean;
  /** Names, as the model reads them, of tools that are not offered. */
  readonly tools: ReadonlySet<string>;
  /** A request and its answer may have so many; null where nothing was refused for its length. */
  readonly contextTokens: number | null;
  /** Pictures of this run that are not sent, by blob id. */
  readonly images: ReadonlySet<string>;
  /** So many messages at the beginning of this run are not sent. */
  readonly older: number;
}

export const NO_LESSON: Lesson = {
  without: new Set(),
  filled: new Set(),
  hasStrictIds: false,
  isBlind: false,
  tools: new Set(),
  contextTokens: null,
  images: new Set(),
  older: 0,
};

/** Kept until the server stops: what is forgotten costs one refused request. */
const MOST_KEPT = 1_000;

/** Providers refused these: pictures and older messages in each run, all else for each model. */
export class Lessons {
  readonly #models = new Map<string, Lesson>();
  readonly #runs = new Map<string, Pick<Lesson, 'images' | 'older'>>();

  of(model: string, runId: string): Lesson {
    const { images, older } = this.#runs.get(runId) ?? NO_LESSON;
    return { ...(this.#models.get(model) ?? NO_LESSON), images, older };
  }

  /** After a request that was answered. */
  keep(model: string, runId: string, lesson: Lesson): void {
    putNewest(this.#models, model, lesson);
    if (lesson.images.size > 0 || lesson.older > 0) putNewest(this.#runs, runId, lesson);
  }
}

function putNewest<Value>(kept: Map<string, Value>, key: string, value: Value): void {
  kept.delete(key);
  kept.set(key, value);
  keepNewest(kept, MOST_KEPT);
}
