import { hash } from 'node:crypto';
import { FairMap } from '#lib/limits/fair-map';
import { HttpError } from '#lib/protocol/http-error';
import type { RunRecord } from '#lib/protocol/run';
import { given } from '#lib/util/given';
import { type Caller, ownsRun, principalKey } from '../../auth/room.ts';
import { type DoorRuns, type OpenTurnStream, sentTo, type TurnStream } from '../room.ts';
import { asFirstMessage, type Conversation, type SentMessage } from './read-messages.ts';

export interface ConversationRunsDeps {
  readonly doorRuns: DoorRuns;
  readonly openTurnStream: OpenTurnStream;
  /** Random, and long enough for an id. */
  readonly newSecret: () => string;
}

export interface Asking {
  readonly caller: Caller;
  readonly address: string;
  readonly conversation: Conversation;
  /** The server chooses where it is not given. */
  readonly model: string | undefined;
  /** The program calls the conversation so. */
  readonly user: string | undefined;
}

/** A turn that has begun. */
export interface BegunTurn {
  readonly run: RunRecord;
  readonly messageId: string;
  readonly usedBefore: RunRecord['usage'];
  readonly stream: TurnStream;
  /** The conversation is known by what was answered, whole or not, in each form that may be repeated. */
  answered(forms: readonly string[]): void;
}

interface SendTo {
  readonly runId: string;
  /** The message in whose place the new one stands. */
  readonly next: string | undefined;
  readonly before: RunRecord | undefined;
}

/** Finds the run that a program's request goes on with, and sends its newest message there. */
export class ConversationRuns {
  readonly #deps: ConversationRunsDeps;
  readonly #known = createKnownConversations();

  constructor(deps: ConversationRunsDeps) {
    this.#deps = deps;
  }

  async begin(asking: Asking): Promise<BegunTurn> {
    const { caller, conversation, user } = asking;
    const owner = principalKey(caller);
    const found = user === undefined ? this.#known.find(owner, conversation.earlier) : undefined;
    const runId = found?.runId ?? this.#nameOf(owner, user);
    // Before the run is read: nothing that happens later is missed.
    const stream = this.#deps.openTurnStream(runId);
    try {
      const before = await this.#deps.doorRuns.get(runId);
      // A program may give its run any id: also that of another's conversation, had it come to know it.
      if (before && !ownsRun(caller, before)) throw notThere();
      if (before?.status === 'running') throw busy();
      const run = await this.#send(asking, { runId, next: found?.next, before });
      const { message_id: messageId } = newest(run);
      const at = { runId, next: messageId };
      if (user === undefined) this.#known.keep(owner, conversation.earlier, at);
      const answered = (forms: readonly string[]) => {
        for (const text of forms) this.#answered(owner, asking, { runId, text });
      };
      return { run, messageId, usedBefore: before?.usage, stream, answered };
    } catch (error) {
      stream.close();
      throw error;
    }
  }

  /** A name leads to one run, also after a restart; without one a run is new. */
  #nameOf(owner: string, user: string | undefined): string {
    const name = user === undefined ? ['new', this.#deps.newSecret()] : ['user', user];
    return this.#deps.doorRuns.idOf('openai', owner, ...name);
  }

  async #send({ caller, address, conversation, model }: Asking, to: SendTo): Promise<RunRecord> {
    const { runId, next, before } = to;
    const { newest: title, files } = conversation;
    const input = before ? title : asFirstMessage(conversation);
    const more = given({ model, replaces: before ? next : undefined });
    const message = { title, input, files, more };
    return sentTo(
      await this.#deps.doorRuns.send({ caller, address, runId }, before, message),
      notThere,
    );
  }

  #answered(
    owner: string,
    { conversation: { earlier, asked }, user }: Asking,
    { runId, text }: { runId: string; text: string },
  ): void {
    if (user !== undefined) return;
    const answer = { role: 'assistant', text } as const;
    this.#known.keep(owner, [...earlier, ...asked, answer], { runId });
  }
}

function newest({ run_id, messages }: RunRecord) {
  const message = messages.findLast(({ role }) => role === 'user');
  if (!message) throw new Error(`The run ${run_id} has not the message that was sent to it`);
  return message;
}

const busy = (): HttpError =>
  new HttpError(
    'conflict',
    'The conversation has an answer that is not whole yet. Wait for its end, or close its stream.',
  );

const notThere = (): HttpError =>
  new HttpError('run_not_found', 'There is no such conversation. Begin one with another user.');

/** The run whose messages a request repeats. */
interface KnownConversation {
  readonly runId: string;
  /** The message that was sent after these: one that is sent now stands in its place. */
  readonly next?: string;
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
function createKnownConversations() {
  const known = new FairMap<KnownConversation>(MOST);
  return {
    find: (owner: string, messages: readonly SentMessage[]) =>
      messages.length === 0 ? undefined : known.get(keyOf(owner, messages)),
    keep(owner: string, messages: readonly SentMessage[], conversation: KnownConversation): void {
      if (messages.length === 0) return;
      known.put(owner, keyOf(owner, messages), conversation);
    },
  };
}
