import { hash } from 'node:crypto';
import type { Call } from '#lib/call/call';

/** A span as others refer to it: the text form is the header `traceparent` of W3C Trace Context. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Its caller exports it: what follows from a span that is not exported is not, either. */
  readonly isSampled: boolean;
}

const FORM =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined for what is no valid `traceparent`: that is ignored, and never an error (TM10). */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== 'string' || text.length > 256) return undefined;
  const [, version, traceId, spanId, flags = '', rest] = FORM.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  // A later version may have more behind it; this one has not.
  if (version === '00' && rest !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** A `traceparent` that came in, in the form in which it is stored; undefined where none did, or no valid one. */
export function readTraceparent(text: unknown): string | undefined {
  const context = parseTraceparent(text);
  return context && formatTraceparent(context);
}

/** The span of what `key` names, below `parent`, or as the root of a trace of its own. The same key gives the same ids, also after a crash (TM9). */
export function spanOf(key: string, parent: TraceContext | undefined): TraceContext {
  const digits = hash('sha256', key);
  const spanId = digits.slice(32, 48);
  return { traceId: parent?.traceId ?? digits.slice(0, 32), spanId, isSampled: true };
}

export type TracedCall = Pick<Call, 'id' | 'traceparent'>;

/** The `execute_tool` span of a call. */
export const spanOfCall = ({ id, traceparent }: TracedCall): TraceContext =>
  spanOf(id, parseTraceparent(traceparent));

/**
 * Gives what is sent to whom a call goes: the call's own span where that is exported, else what came in
 * with the call, as it came. Undefined: neither.
 */
export function traceparentOf(call: TracedCall, isTracing: boolean): string | undefined {
  const { traceparent } = call;
  const isExported = isTracing && parseTraceparent(traceparent)?.isSampled !== false;
  return isExported ? formatTraceparent(spanOfCall(call)) : traceparent;
}
