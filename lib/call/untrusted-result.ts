import { isRecord } from '../json/is-record.ts';
import { isTrusted } from '../protocol/tool-source.ts';

interface ResultOfCall {
  readonly toolName: string;
  readonly source: string;
  readonly trusted?: boolean | undefined;
  readonly result?: unknown;
  readonly error?: { readonly executed: string } | null | undefined;
}

/** The server's tools whose results may have the words of others; but for a host's, results mark those that do. */
export const RECALL = 'memory.recall';
export const HTTP_REQUEST = 'http.request';

/** True when a call gave what is not the server's own: by whose tool it is, or by a mark in its result. */
export function isUntrustedResult(call: ResultOfCall): boolean {
  if (!isTrusted(call)) return true;
  switch (call.toolName) {
    case HTTP_REQUEST:
      return call.error?.executed !== 'no';
    case RECALL:
      return hasMarkedNote(call.result);
    case 'database.query':
    case 'file.read':
    case 'file.list':
      return isRecord(call.result) && call.result.untrusted !== undefined;
    default:
      return false;
  }
}

function hasMarkedNote(result: unknown): boolean {
  if (!isRecord(result) || !Array.isArray(result.memories)) return false;
  return result.memories.some((one: unknown) => isRecord(one) && one.untrusted !== undefined);
}
