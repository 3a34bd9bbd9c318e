import type { RunRecord } from '#lib/protocol/run';
import { CLOSE, type ServerMessage } from '#lib/protocol/server-messages';
import { type Caller, ownsRun, principalKey } from '../../auth/room.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { ClientChannel, ClientSessions } from '../../clients/room.ts';
import {
  type DoorOutcome,
  type DoorRuns,
  NOT_OWN,
  type OpenTurnStream,
  type Talk,
  type TurnEvent,
} from '../room.ts';
import { type ErrorCode, type ErrorFrame, errorFrame, type ServerFrame } from './chat-frames.ts';
import { ChatTools, type ChatToolsDeps, type KeptIdentities } from './chat-tools.ts';
import type { ChatFrame } from './parse-chat-frame.ts';
import { TurnFrames } from './turn-frames.ts';

export interface ChatSessionDeps {
  readonly doorRuns: DoorRuns;
  readonly openTurnStream: OpenTurnStream;
  readonly sessions: ClientSessions;
  readonly registry: ChatToolsDeps['registry'];
  readonly kept: KeptIdentities;
  newSessionId(): string;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/** The app's connection, as far as a session needs it. */
export interface ChatChannel {
  send(frame: ServerFrame): void;
  dropRequest(callId: string): void;
  close(code: number, reason: string): void;
}

export interface ChatOpening {
  readonly caller: Caller & { readonly address: string };
  readonly sessionId: string | undefined;
  readonly name: string | undefined;
}

const MISMATCH = errorFrame(
  'SESSION_OWNER_MISMATCH',
  'This session belongs to another token. Begin one under another session_id.',
);
const VERSION = 1;
/** A session takes no more at once, which is ClawSeed's own number. */
const MOST_COMMANDS = 8;
/** ClawSeed calls a session so that nobody has named. */
const UNNAMED = '新会话';
const DEVICE = errorFrame(
  'PERMISSION_DENIED',
  "A device's token offers tools and does not talk to the agent. Connect with the token of a person with the role operator or admin.",
);
const FAILED = errorFrame('AGENT_ERROR', 'The server failed in an unexpected way; try again.');

/** What an app asks of its run. */
type Command = Extract<ChatFrame, { type: 'message' | 'regenerate' | 'abort' }>;

/** A session of a ClawSeed app: a run that it talks in, and a client that offers tools. */
export class ChatSession {
  readonly #deps: ChatSessionDeps;
  readonly #channel: ChatChannel;
  readonly #sessionId: string;
  readonly #name: string | undefined;
  /** One session, one run; an app may call its sessions anything. */
  readonly #runId: string;
  readonly #caller: ChatOpening['caller'];
  /** Undefined of a device, and until it is open. */
  #talk: Talk | undefined;
  readonly #tools: ChatTools;
  readonly #client: ReturnType<ClientSessions['open']>;
  readonly #opened: Promise<void>;
  /** Aborts once the connection is closed. */
  readonly #closing = new AbortController();
  #isOpen = false;
  #isClosed = false;
  #commands: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(deps: ChatSessionDeps, channel: ChatChannel, opening: ChatOpening) {
    const { caller, sessionId = deps.newSessionId(), name } = opening;
    this.#deps = deps;
    this.#channel = channel;
    this.#caller = caller;
    this.#sessionId = sessionId;
    this.#name = name === UNNAMED ? undefined : name;
    this.#runId = deps.doorRuns.idOf('clawseed', sessionId);
    this.#client = deps.sessions.open(caller, this.#clientChannel());
    this.#tools = new ChatTools({
      session: this.#client,
      registry: deps.registry,
      send: (frame) => channel.send(frame),
      dropRequest: (callId) => channel.dropRequest(callId),
    });
    this.#opened = this.#open().catch((error: unknown) => {
      deps.logger.error(error);
      this.#end('AGENT_INIT_FAILED', 'The session could not be opened; try again.', 1011);
    });
  }

  /** One parsed frame. The promise settles when it is answered; it never rejects. */
  receive(frame: ChatFrame): Promise<void> | undefined {
    // The first frame that an app gets is session_start.
    if (!this.#isOpen) return this.#opened.then(() => this.#handle(frame));
    return this.#handle(frame);
  }

  setResponsive(isResponsive: boolean): void {
    this.#client.setResponsive(isResponsive);
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closing.abort();
    this.#client.closed();
    const { identity } = this.#tools;
    if (identity) this.#deps.kept.keep(principalKey(this.#caller), this.#key, identity);
  }

  get #key(): string {
    return `${principalKey(this.#caller)} ${this.#sessionId}`;
  }

  #clientChannel(): ClientChannel {
    return {
      send: (message: ServerMessage) => this.#tools.take(message),
      close: (code, reason) => this.#channel.close(code, reason),
    };
  }

  async #open(): Promise<void> {
    const person = this.#caller;
    if (person.kind !== 'operator') return this.#start(undefined, []);
    const { doorRuns, openTurnStream } = this.#deps;
    const runId = this.#runId;
    this.#talk = { runId, caller: person, address: person.address };
    if (this.#isClosed) return;
    const { signal } = this.#closing;
    const stream = openTurnStream(runId, signal);
    const run = await doorRuns.get(runId);
    if (this.#isClosed) return;
    if (run && !ownsRun(person, run)) return this.#refuseOther();
    const frames = new TurnFrames(run?.title ?? this.#name, this.#deps.clock.now);
    const now = run?.status === 'running' ? await stream.catchUp(signal) : undefined;
    if (this.#isClosed) return;
    this.#start(run, now ? frames.begin(now.run, now.calls, stream) : []);
    for (const event of now ? stream.readRun(now.run) : []) this.#show(event, frames);
    stream.follow((event) => this.#show(event, frames));
  }

  #start(run: RunRecord | undefined, frames: readonly ServerFrame[]): void {
    const name = run?.title ?? this.#name;
    this.#channel.send({
      type: 'session_start',
      v: VERSION,
      session_id: this.#sessionId,
      resumed: run !== undefined,
      message_count: run ? run.messages.length + (run.messages_left_out ?? 0) : 0,
      ...(name === undefined ? {} : { name }),
      run_id: this.#runId,
    });
    for (const frame of frames) this.#channel.send(frame);
    this.#isOpen = true;
  }

  #show(event: TurnEvent, frames: TurnFrames): void {
    if (this.#isClosed) return;
    // Another token was the first to begin the session.
    if (event.type === 'run' && !ownsRun(this.#caller, event.run)) return this.#refuseOther();
    for (const frame of frames.take(event)) this.#channel.send(frame);
  }

  #refuseOther(): void {
    this.#end(MISMATCH.code, MISMATCH.message, CLOSE.policy);
  }

  #end(code: typeof MISMATCH.code, message: string, closeCode: number): void {
    if (this.#isClosed) return;
    this.#channel.send(errorFrame(code, message));
    this.#channel.close(closeCode, message);
  }

  #handle(frame: ChatFrame): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    if (!this.#tools.hasEntered) this.#enter(frame);
    switch (frame.type) {
      case 'connect':
        this.#channel.send({ type: 'connected', v: VERSION, message: 'Connection established' });
        return undefined;
      case 'client':
        return this.#tools.receive(frame.message);
      case 'get_registered_tools':
        return this.#tools.listTools();
      case 'refused':
        this.#channel.send(frame.error);
        return frame.message && this.#tools.receive(frame.message);
      default:
        return this.#command(frame);
    }
  }

  /** The first frame that is no `connect` is taken as what it is. */
  #enter(first: ChatFrame): void {
    const isConnect = first.type === 'connect';
    const name = (isConnect ? first.deviceName : undefined) ?? this.#name ?? 'ClawSeed';
    const capabilities = isConnect ? first.capabilities : [];
    this.#tools.enter({ name, capabilities }, this.#deps.kept.take(this.#key));
  }

  /** One after the other: what aborts a message comes behind it. */
  #command(command: Command) {
    const talk = this.#talk;
    if (!talk) {
      this.#channel.send(DEVICE);
      return undefined;
    }
    if (this.#waiting >= MOST_COMMANDS) {
      const message = `${MOST_COMMANDS} messages wait. Send the next one when they are taken.`;
      this.#channel.send(errorFrame('SESSION_BUSY', message));
      return undefined;
    }
    this.#waiting += 1;
    this.#commands = this.#commands
      .then(() => this.#run(command, talk))
      .catch((error: unknown) => {
        this.#deps.logger.error(error);
        return FAILED;
      })
      .then((refusal) => {
        this.#waiting -= 1;
        if (refusal === MISMATCH) this.#refuseOther();
        else if (refusal && !this.#isClosed) this.#channel.send(refusal);
      });
    return this.#commands;
  }

  async #run(command: Command, talk: Talk): Promise<ErrorFrame | undefined> {
    const { doorRuns } = this.#deps;
    // What stops a turn does not wait for the app's tools.
    const clientId = command.type === 'abort' ? undefined : await this.#tools.clientId();
    const run = await doorRuns.get(talk.runId);
    // Another token may have begun it, of which no event has come yet.
    if (run && !ownsRun(talk.caller, run)) return MISMATCH;
    if (command.type === 'abort') {
      const isRunning = run?.status === 'running';
      const status = isRunning ? 'aborted' : 'no_active_response';
      this.#channel.send({ type: 'abort_ack', status });
      // The turn's own end follows as an event.
      return isRunning ? refusalOf(await doorRuns.stop(talk)) : undefined;
    }
    const by = clientId === undefined ? {} : { clientId };
    if (command.type === 'message') {
      const { content: input } = command;
      const message = { title: this.#name ?? input, input, more: by };
      return refusalOf(await doorRuns.send(talk, run, message));
    }
    const last = run?.messages.findLast(({ role }) => role === 'user');
    if (!run || !last) return errorFrame('NO_USER_MESSAGE', 'There is no message to answer again.');
    const { message_id } = last;
    const more = { ...by, replaces: message_id };
    const outcome = await doorRuns.send(talk, run, { title: '', more });
    if (outcome.ok) await doorRuns.record(talk, 'message_replaced', { message_id, edited: false });
    return refusalOf(outcome);
  }
}

const CODES: Record<
  Exclude<Extract<DoorOutcome, { ok: false }>['code'], typeof NOT_OWN>,
  ErrorCode
> = {
  // Too many messages wait, or the turn is being stopped.
  conflict: 'SESSION_BUSY',
  bad_request: 'INVALID_MESSAGE',
  run_not_found: 'SESSION_BIND_FAILED',
  shutting_down: 'SHUTTING_DOWN',
  store_failed: 'STORE_FAILED',
};

function refusalOf(outcome: DoorOutcome): ErrorFrame | undefined {
  if (outcome.ok) return undefined;
  return outcome.code === NOT_OWN ? MISMATCH : errorFrame(CODES[outcome.code], outcome.message);
}
