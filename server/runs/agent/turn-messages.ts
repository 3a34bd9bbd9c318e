import type { Message } from '#lib/protocol/run';

/** What was written since the person's last message. On disk all of it is whole: half messages are never stored. */
export const ofLastTurn = (messages: readonly Message[]): readonly Message[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);

/** A person's message that no step has read. */
export const isUnread = (messages: readonly Message[]): boolean => messages.at(-1)?.role === 'user';

/** How many of these there are. */
export const unreadAtEnd = (messages: readonly Message[]): number =>
  messages.length - 1 - messages.findLastIndex(({ role }) => role !== 'user');

export const hasCalls = ({ parts }: Message): boolean =>
  parts.some((part) => part.type === 'tool_call');

export const namedCalls = (messages: readonly Message[]): ReadonlySet<string> =>
  new Set(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : [])),
    ),
  );

/** Neither text nor call, and nothing that a turn reports of itself. */
export const isEmptyAnswer = ({ role, parts }: Message): boolean =>
  role === 'assistant' &&
  parts.every((part) => part.type === 'reasoning' || (part.type === 'text' && !part.text.trim()));

export function emptyAnswersAtEnd(messages: readonly Message[]): number {
  const last = messages.findLastIndex((message) => !isEmptyAnswer(message));
  return messages.length - 1 - last;
}

/** Its text, without calls, thoughts and files. */
export const wordsIn = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
