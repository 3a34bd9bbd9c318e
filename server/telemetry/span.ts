import type { TraceContext } from './trace-context.ts';

/** Kinds of spans as OTLP numbers them. */
export const INTERNAL = 1;
export const SERVER = 2;
export const CLIENT = 3;

/** A span that ended. Times are milliseconds since the epoch. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined: the root of its trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: typeof INTERNAL | typeof SERVER | typeof CLIENT;
  readonly start: number;
  /** By default the moment in which it is added. */
  readonly end?: number;
  /** An attribute without a value is left out. */
  readonly attributes: Attributes;
  readonly isError: boolean;
  /** Spans that it has to do with, and that do not stand above it. */
  readonly links?: readonly Pick<Span, 'traceId' | 'spanId'>[];
}

/** Where spans go. */
export interface Spans {
  /** Off: what comes in is passed on as it came, and no request costs anything. */
  readonly isOn: boolean;
  /** Takes a span that has ended. */
  add(span: Span): void;
}

/** How a span refers to itself and to the one above it. */
export const spanIds = (own: TraceContext, parent: TraceContext | undefined) => ({
  traceId: own.traceId,
  spanId: own.spanId,
  parentSpanId: parent?.spanId,
});

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Names come from clients and models. */
const MOST_CHARS = 256;
/** A longer text is searched for secrets up to here. */
const MOST_READ = 8_192;
const ERROR = 2;

/** The body of `POST /v1/traces` of OTLP/HTTP: ids as hex, 64-bit numbers as texts. */
export const toOtlp = (spans: readonly Span[], resource: Attributes): object => ({
  resourceSpans: [
    {
      resource: { attributes: toAttributes(resource) },
      scopeSpans: [{ scope: { name: 'callboard' }, spans: spans.map(toOtlpSpan) }],
    },
  ],
});

const toOtlpSpan = ({
  traceId,
  spanId,
  parentSpanId,
  kind,
  start,
  end = start,
  links,
  ...span
}: Span) => ({
  traceId,
  spanId,
  ...(parentSpanId !== undefined && { parentSpanId }),
  name: cut(span.name),
  kind,
  startTimeUnixNano: toNanoseconds(start),
  // A clock that was set back meanwhile makes no span that ends before it starts.
  endTimeUnixNano: toNanoseconds(Math.max(start, end)),
  attributes: toAttributes(span.attributes),
  status: span.isError ? { code: ERROR } : {},
  ...(links && links.length > 0 && { links }),
});

const toNanoseconds = (ms: number): string => `${Math.round(ms)}000000`;

const toAttributes = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );

function toValue(value: string | number | boolean) {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'string') return { stringValue: cut(value) };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** A copy: a slice would keep the whole text in memory. */
const cut = (text: string): string =>
  text.length > MOST_CHARS
    ? Buffer.from(text.slice(0, MOST_CHARS)).toString()
    : text.toWellFormed();

/**
 * A span waits without what is cut off when it is sent. `hide` takes out what is secret here: of a
 * secret that is cut in two it would find neither part later.
 */
export function toBounded(span: Span, hide: (text: string) => string): Span {
  const entries = Object.entries(span.attributes);
  if (!isLong(span.name) && !entries.some(([, value]) => isLong(value))) return span;
  const bound = (text: string) => (isLong(text) ? cut(hide(text.slice(0, MOST_READ))) : text);
  const attributes = entries.map(([key, value]) => [
    key,
    typeof value === 'string' ? bound(value) : value,
  ]);
  return { ...span, name: bound(span.name), attributes: Object.fromEntries(attributes) };
}

const isLong = (value: Attributes[string]): boolean =>
  typeof value === 'string' && value.length > MOST_CHARS;
