import { splitArray, splitObject } from '#lib/json/split-json';
import { STREAM_LIMITS } from '#lib/protocol/stream';

/** Messages of one request, each as its own text: one that cannot be read takes no other with it. */
export interface Batch {
  readonly seq: number;
  readonly messages: readonly string[];
}

const MOST_FIELDS = 16;

/** Total: undefined for what is no batch. */
export function readBatch(text: string): Batch | undefined {
  const fields = splitObject(text, MOST_FIELDS);
  const seq = fields?.get('seq')?.trim() ?? '';
  const messages = splitArray(fields?.get('messages') ?? '', STREAM_LIMITS.messages);
  if (!/^[1-9]\d{0,14}$/.test(seq) || !messages) return undefined;
  return { seq: Number(seq), messages };
}
