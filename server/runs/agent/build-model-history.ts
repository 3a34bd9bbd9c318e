import type { AssistantContent, FilePart, ModelMessage, TextPart, ToolModelMessage } from 'ai';
import type { CallRecord } from '#lib/call/call-record';
import { outputOfRecord } from '#lib/call/model-output';
import type { Message } from '#lib/protocol/run';
import { stripInvisible } from '#lib/text/invisible';

/** A picture as it is sent, scaled down where it was too large. */
export interface ModelImage {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** How a model takes pictures: in tool results, in a user's message, or not at all. */
export type ImageWay = 'tool_result' | 'user_message' | 'none';

type ToolResults = ToolModelMessage['content'];
type ImageFile = { type: 'file'; mediaType: string; data: Uint8Array };

export interface ModelHistoryInput {
  readonly messages: readonly Message[];
  readonly calls: ReadonlyMap<string, CallRecord>;
  /** By blob id; what is missing is only described. */
  readonly images: ReadonlyMap<string, ModelImage>;
  readonly imageWay: ImageWay;
  readonly toModelName: (toolName: string) => string;
}

/** The result of a call, as it stands in the history. */
export interface HandedResult {
  readonly toolCallId: string;
  readonly text: string;
  /** The text is the beginning of a longer one. */
  readonly cut: boolean;
  readonly images: readonly (ModelImage & { readonly blobId: string })[];
}

export interface ModelHistory {
  readonly messages: readonly ModelMessage[];
  /** One for each call in the messages. */
  readonly results: readonly HandedResult[];
}

/**
 * The conversation as a model is sent it (rules AL40 to AL45). Each call is
 * followed by exactly one result, in call order: a call without a final record
 * gets the neutral words of an unknown outcome, never nothing.
 */
export function buildModelHistory(input: ModelHistoryInput): ModelHistory {
  const results: HandedResult[] = [];
  const messages = input.messages.flatMap((message) =>
    message.role === 'user' ? userMessages(message) : assistantMessages(message, input, results),
  );
  return { messages, results };
}

function userMessages(message: Message): ModelMessage[] {
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const content = stripInvisible(text.join('\n'));
  return content === '' ? [] : [{ role: 'user', content }];
}

function assistantMessages(
  message: Message,
  input: ModelHistoryInput,
  handed: HandedResult[],
): ModelMessage[] {
  const content: Exclude<AssistantContent, string> = [];
  const results: ToolResults = [];
  const shown: (TextPart | FilePart)[] = [];
  for (const part of message.parts) {
    if (part.type === 'text' && part.text !== '') content.push({ type: 'text', text: part.text });
    if (part.type !== 'tool_call') continue;
    const published = describeCall(part.tool_call_id, input);
    content.push(published.call);
    // guard: every-call-has-a-result
    results.push(published.result);
    handed.push(published.handed);
    shown.push(...published.shown);
  }
  if (content.length === 0) return [];
  const messages: ModelMessage[] = [{ role: 'assistant', content }];
  if (results.length > 0) messages.push({ role: 'tool', content: results });
  // After all results: a user's message between them would break the pairing.
  if (shown.length > 0) messages.push({ role: 'user', content: shown });
  return messages;
}

function describeCall(callId: string, input: ModelHistoryInput) {
  const record = input.calls.get(callId);
  const toolName = input.toModelName(record?.toolName ?? 'unknown_tool');
  const output = outputOfRecord(record);
  const images =
    input.imageWay === 'none'
      ? []
      : output.images.flatMap(({ blob_id: blobId }) => {
          const image = input.images.get(blobId);
          return image ? [{ ...image, blobId }] : [];
        });
  const files = images.map(fileOf);
  const inResult = input.imageWay === 'tool_result' ? files : [];
  const inMessage = input.imageWay === 'user_message' ? files : [];
  return {
    call: { type: 'tool-call' as const, toolCallId: callId, toolName, input: record?.args ?? {} },
    result: {
      type: 'tool-result' as const,
      toolCallId: callId,
      toolName,
      output: resultOutput(output.text, inResult),
    },
    shown: introduced(toolName, inMessage),
    handed: { toolCallId: callId, text: output.text, cut: output.cut, images },
  };
}

/** Never `error-text`: the SDK would wrap the words of the error in another error. */
function resultOutput(text: string, files: readonly ImageFile[]) {
  if (files.length === 0) return { type: 'text' as const, value: text };
  const first = { type: 'text' as const, text };
  return { type: 'content' as const, value: [first, ...files.map(tagged)] };
}

const tagged = (file: ImageFile) => ({
  type: 'file' as const,
  mediaType: file.mediaType,
  data: { type: 'data' as const, data: file.data },
});

const introduced = (toolName: string, files: readonly FilePart[]): (TextPart | FilePart)[] =>
  files.length === 0
    ? []
    : [
        { type: 'text', text: `What ${toolName} returned, as shown to you by the server:` },
        ...files,
      ];

const fileOf = ({ mediaType, bytes }: ModelImage): ImageFile => ({
  type: 'file',
  mediaType,
  data: bytes,
});
