import { createHash } from 'node:crypto';
import type { ModelMessage } from 'ai';
import { MODEL_OUTPUT_VERSION } from '#lib/call/model-output';
import type { SentPart } from '#lib/protocol/model-turn';
import type { ModelRequest } from './agent.ts';
import type { HandedResult } from './build-model-history.ts';
import type { ToolDefinition } from './model-tools.ts';

export interface Prompt {
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly results: readonly HandedResult[];
  /** None for the last answer, which may call nothing. */
  readonly tools: readonly ToolDefinition[];
  /** Of one result, as UTF-8. */
  readonly resultBytes: number;
}

/** What is recorded of a request: hashes, by which it can be checked later what the model got. */
export function describeRequest(
  prompt: Prompt,
): Pick<ModelRequest, 'toolsOffered' | 'toolsSha256' | 'promptSha256' | 'rendering' | 'results'> {
  const { instructions, messages, tools } = prompt;
  const toolsSha256 = tools.length === 0 ? null : sha256(JSON.stringify(tools));
  return {
    toolsOffered: tools.length,
    toolsSha256,
    promptSha256: sha256(JSON.stringify([instructions, messages, toolsSha256], bytesAsHash)),
    rendering: MODEL_OUTPUT_VERSION,
    results: prompt.results.map((result) => sentPart(result, prompt.resultBytes)),
  };
}

const sentPart = ({ toolCallId, text, cut, images }: HandedResult, limit: number): SentPart => ({
  tool_call_id: toolCallId,
  ...textFacts(text),
  ...{ cut, limit },
  images: images.map(({ blobId, mediaType, bytes }) => ({
    blob_id: blobId,
    media_type: mediaType,
    sha256: sha256(bytes),
    bytes: bytes.byteLength,
  })),
});

/** Of the text as UTF-8. */
const textFacts = (text: string) => ({
  sha256: sha256(text),
  bytes: Buffer.byteLength(text),
});

const sha256 = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');

/** Pictures would be a list of numbers; a `Buffer` has become one before it gets here, so its holder is asked. */
function bytesAsHash(this: unknown, key: string, value: unknown): unknown {
  const held: unknown = typeof this === 'object' && this !== null ? Reflect.get(this, key) : value;
  return held instanceof Uint8Array ? sha256(held) : value;
}
