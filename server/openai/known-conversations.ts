import { hash } from 'node:crypto';
import { FairMap } from '#lib/util/fair-map';
import type { SentMessage } from './read-messages.ts';

/** The run whose messages a request repeats. */
export interface KnownConversation {
  readonly runId: string;
  /** The message that was sent after these: one that is sent now stands in its place. */
  readonly next?: string;
}

export interface KnownConversations {
  find(owner: string, messages: readonly SentMessage[]): KnownConversation | undefined;
  keep(owner: string, messages: readonly SentMessage[], known: KnownConversation): void;
}

const MOST = 10_000;

/** Programs change blanks and line ends, and repeat an answer in one message or in several. */
function keyOf(owner: string, messages: readonly SentMessage[]): string {
  const merged: [role: string, text: string][] = [];
  for (const { role, text: words, print = '' } of messages) {
    const text = words + print;
    const last = merged.at(-1);
    if (last?.[0] === role) last[1] += ` ${text}`;
    else merged.push([role, text]);
  }
  const texts = merged.map(([role, text]) => [role, text.replace(/\s+/g, ' ').trim()]);
  return hash('sha256', JSON.stringify([owner, texts]), 'base64url');
}

/**
 * Finds a run by a hash of the messages that a program repeats with each request (rule OA4). In
 * memory: after a restart a conversation goes on in a new run, which is sent what came before.
 */
export function createKnownConversations(most = MOST): KnownConversations {
  const known = new FairMap<KnownConversation>(most);
  return {
    find: (owner, messages) =>
      messages.length === 0 ? undefined : known.get(keyOf(owner, messages)),
    keep(owner, messages, conversation) {
      if (messages.length === 0) return;
      known.put(owner, keyOf(owner, messages), conversation);
    },
  };
}
