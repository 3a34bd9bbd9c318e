import { hash } from 'node:crypto';
import type { AssistantContent, FilePart, ModelMessage, TextPart, ToolModelMessage } from 'ai';
import type { Call } from '#lib/call/call';
import { describeFiles } from '#lib/call/describe-files';
import type { ModelOutput } from '#lib/call/model-output';
import { type Attachment, isImage } from '#lib/protocol/attachment';
import type { Message } from '#lib/protocol/run';
import { forModel, forModelDeep } from '#lib/text/for-model';
import type { MessageReplay, ReplayPart } from './replay.ts';
import { type HistoryGroup, trimHistory } from './trim-history.ts';
/** A picture as it is sent, scaled down where it was too large. */
export interface ModelImage {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** How a model takes pictures: in tool results, in a user's message, or not at all. */
export type ImageWay = 'tool_result' | 'user_message' | 'none';

type ToolResults = ToolModelMessage['content'];
type ImageFile = { type: 'file'; mediaType: string; data: Uint8Array };

interface ModelHistoryInput {
  readonly messages: readonly Message[];
  /** So many messages before them have no room. */
  readonly older?: number | undefined;
  /** For all of the messages, of UTF-8 as JSON; null or not given for any number. */
  readonly roomBytes?: number | null | undefined;
  readonly calls: ReadonlyMap<string, Call>;
  /** This model's own messages are sent back with these, by message. */
  readonly replays: ReadonlyMap<string, MessageReplay>;
  /** By blob id; what is missing is only described. */
  readonly images: ReadonlyMap<string, ModelImage>;
  readonly imageWay: ImageWay;
  /** For a server of which nobody says what it takes (AL48, AL170). */
  readonly isCompatible?: boolean;
  /** The server refused the model's own ids of calls. */
  readonly hasStrictIds?: boolean;
  readonly toModelName: (toolName: string, clientId?: string | null) => string;
  /** Gives what the model wrote of the client that the call is for (AL164). */
  readonly clientArgument?: (call: Call) => Readonly<Record<string, unknown>>;
  /** Gives what the model is sent of a call, also of one that is not there. */
  readonly outputOf: (record: Call | undefined) => ModelOutput;
}

/** The result of a call, as it stands in the history. */
export interface HandedResult {
  readonly toolCallId: string;
  readonly text: string;
  /** The text has beginning and end of a longer one. */
  readonly cut: boolean;
  readonly images: readonly (ModelImage & { readonly blobId: string })[];
}

export interface ModelHistory {
  /** So many of the conversation had no room. */
  readonly messagesLeftOut: number;
  readonly messages: readonly ModelMessage[];
  /** Pictures, by blob id, that there was room for. */
  readonly images: readonly string[];
  readonly results: readonly HandedResult[];
}

/**
 * The conversation as a model is sent it (rules AL40 to AL47). Each call is
 * followed by exactly one result, in call order: a call without a final record
 * gets the neutral words of an unknown outcome, never nothing.
 */
export function buildModelHistory(input: ModelHistoryInput): ModelHistory {
  const named = input.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : [])),
  );
  const usedIds = new Set(named);
  const groups = input.messages.map((message): HistoryGroup<HandedResult> => {
    const building: Building = { ...input, results: [], usedIds };
    const isPersons = message.role === 'user';
    const messages = isPersons
      ? userMessages(message, building)
      : assistantMessages(message, building);
    return { role: message.role, messages, results: building.results };
  });
  const { roomBytes = null, older = 0 } = input;
  const { kept, leftOut } = trimHistory(
    groups.filter(({ messages }) => messages.length > 0),
    { roomBytes, older },
  );
  const sent = kept.flatMap(({ messages }) => messages);
  return {
    messagesLeftOut: leftOut,
    images: [...input.images.keys()],
    messages: input.isCompatible ? inStrictOrder(sent) : sent,
    results: kept.flatMap(({ results }) => results),
  };
}

function userMessages(message: Message, building: Building): ModelMessage[] {
  const texts = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const files = message.parts.flatMap((part) => (part.type === 'file' ? [part.file] : []));
  const { text: described, note } = describeFiles(files, FILES_BYTES);
  const { shown, unshown } = shownOf(files, building);
  const text = forModel([...texts, described].filter(Boolean).join('\n') + note + unshown);
  if (shown.length > 0) {
    return [{ role: 'user', content: [{ type: 'text', text }, ...shown.map(fileOf)] }];
  }
  return text === '' ? [] : [{ role: 'user', content: text }];
}

/** Texts of the files of one message. */
const FILES_BYTES = 128 * 1024;

/** The pictures that go along, and what the model is told of those that do not. */
function shownOf(files: readonly Attachment[], { images, imageWay }: Building) {
  const shown: HandedResult['images'][number][] = [];
  const missing: number[] = [];
  for (const [at, { blob_id: blobId, unreadable }] of files.filter(isImage).entries()) {
    const image = imageWay === 'none' || unreadable !== undefined ? undefined : images.get(blobId);
    if (image) shown.push({ ...image, blobId });
    else if (unreadable === undefined) missing.push(at + 1);
  }
  if (missing.length === 0) return { shown, unshown: '' };
  const why =
    imageWay === 'none'
      ? 'this model is sent no pictures'
      : 'the newest pictures alone are sent, and those that can be read';
  return { shown, unshown: `\n[Not shown to you: picture ${missing.join(', ')}; ${why}.]` };
}

interface Building extends ModelHistoryInput {
  readonly results: HandedResult[];
  /** The ids of this server's calls, and those of the model that were sent already. */
  readonly usedIds: Set<string>;
}

function assistantMessages(message: Message, building: Building): ModelMessage[] {
  const content: Exclude<AssistantContent, string> = [];
  const replayed = new Map(
    building.replays.get(message.message_id)?.parts.map((part) => [part.at, part]),
  );
  const results: ToolResults = [];
  const shown: (TextPart | FilePart)[] = [];
  for (const [at, part] of message.parts.entries()) {
    const replay = replayed.get(at);
    if (part.type === 'text' && part.text !== '') {
      content.push({ type: 'text', text: forModel(part.text), ...optionsOf(replay) });
    }
    // Thoughts go back only to the model whose they are (AL42); most providers ask for a proof of that.
    if (part.type === 'reasoning' && (replay?.metadata || (replay && building.isCompatible))) {
      content.push({ type: 'reasoning', text: replay.text ?? part.text, ...optionsOf(replay) });
    }
    if (part.type !== 'tool_call') continue;
    const published = describeCall(part.tool_call_id, building, replay);
    content.push(published.call);
    // guard: every-call-has-a-result
    results.push(published.result);
    building.results.push(published.handed);
    shown.push(...published.shown);
  }
  if (content.every(({ type }) => type === 'reasoning')) return [];
  const messages: ModelMessage[] = [{ role: 'assistant', content }];
  if (results.length > 0) messages.push({ role: 'tool', content: results });
  // After all results: a user's message between them would break the pairing.
  if (shown.length > 0) messages.push({ role: 'user', content: shown });
  return messages;
}

const optionsOf = (replay: ReplayPart | undefined) =>
  replay?.metadata === undefined ? {} : { providerOptions: replay.metadata };

/** The model's own id of a call, unless another call has it: pairs are found by it (AL40). */
function idOf(callId: string, replay: ReplayPart | undefined, building: Building): string {
  const { usedIds, isCompatible, hasStrictIds } = building;
  if (replay?.id === undefined || hasStrictIds || usedIds.has(replay.id)) {
    return isCompatible || hasStrictIds ? strictId(callId) : callId;
  }
  usedIds.add(replay.id);
  return replay.id;
}

function describeCall(callId: string, input: Building, replay: ReplayPart | undefined) {
  const toolCallId = idOf(callId, replay, input);
  const record = input.calls.get(callId);
  const toolName = input.toModelName(record?.toolName ?? 'unknown_tool', record?.wantedClientId);
  const output = input.outputOf(record);
  // A person, a hook, or a repeating model may have written them.
  const written = forModelDeep({
    ...record?.args,
    ...(record && input.clientArgument?.(record)),
  });
  const { shown: images, unshown } = shownOf(record?.attachments ?? [], input);
  const files = images.map(fileOf);
  const inResult = input.imageWay === 'tool_result' ? files : [];
  const inMessage = input.imageWay === 'user_message' ? files : [];
  return {
    call: {
      type: 'tool-call' as const,
      toolCallId,
      toolName,
      input: written,
      ...optionsOf(replay),
    },
    result: {
      type: 'tool-result' as const,
      toolCallId,
      toolName,
      output: resultOutput(output.text + unshown, inResult),
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

/** Stands between results and what a person says, where a model was stopped, failed, or is shown a picture. */
const BETWEEN: ModelMessage = { role: 'assistant', content: 'I have the results.' };

/**
 * The history in the order that strict servers and templates of models ask for (AL48): nobody
 * speaks twice in a row, and behind results the model speaks before a person does.
 */
function inStrictOrder(messages: readonly ModelMessage[]): ModelMessage[] {
  const ordered: ModelMessage[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    const joined = last && joinedWith(last, message);
    if (joined) ordered[ordered.length - 1] = joined;
    else {
      if (message.role === 'user' && last?.role === 'tool') ordered.push(BETWEEN);
      ordered.push(message);
    }
  }
  return ordered;
}

/** Two messages in a row of one who speaks become one. */
function joinedWith(last: ModelMessage, next: ModelMessage): ModelMessage | undefined {
  if (last.role === 'assistant' && next.role === 'assistant')
    return { ...last, content: [...partsOf(last.content), ...partsOf(next.content)] };
  if (last.role !== 'user' || next.role !== 'user') return undefined;
  const areTexts = typeof last.content === 'string' && typeof next.content === 'string';
  const content = areTexts
    ? `${last.content}\n\n${next.content}`
    : [...partsOf(last.content), ...partsOf(next.content)];
  return { ...last, content };
}

const partsOf = <Part>(content: string | readonly Part[]) =>
  typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;

/** The id of a call in the one form that every server takes: nine letters or digits. */
const strictId = (callId: string): string => hash('sha256', callId).slice(0, 9);
