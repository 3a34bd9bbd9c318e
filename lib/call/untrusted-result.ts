import { isRecord } from '../json/is-record.ts';
import { isTrusted } from '../protocol/tool-source.ts';

interface ResultOfCall {
  readonly toolName: string;
  readonly source: string;
  readonly trusted?: boolean | undefined;
  readonly result: unknown;
}

/** The server's tool whose result may have the words of others; it marks the notes that do. */
export const RECALL = 'memory.recall';

/** Whether what a call gave is not the server's own: by whose tool it is, or by a note with the mark. */
export const isUntrustedResult = (call: ResultOfCall): boolean =>
  !isTrusted(call) || (call.toolName === RECALL && hasMarkedNote(call.result));

function hasMarkedNote(result: unknown): boolean {
  if (!isRecord(result) || !Array.isArray(result.memories)) return false;
  return result.memories.some((one: unknown) => isRecord(one) && one.untrusted !== undefined);
}
