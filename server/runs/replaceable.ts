import { currentMessages } from '#lib/protocol/current-messages';
import type { Message } from '#lib/protocol/run';
import type { LiveRun } from './live-run.ts';
import { refuse } from './run-refusals.ts';

/** A message of a person that is still part of the conversation, and its words. */
export function replaceable(run: LiveRun, messageId: string) {
  const message = currentMessages(run.messages()).find((one) => one.message_id === messageId);
  if (message?.role === 'user')
    return { ok: true as const, text: textOf(message), files: filesOf(message) };
  return refuse('bad_request', 'replaces must be a message of a person that was not replaced yet.');
}

const textOf = ({ parts }: Message): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

const filesOf = ({ parts }: Message) =>
  parts.flatMap((part) => (part.type === 'file' ? [part.file] : []));
