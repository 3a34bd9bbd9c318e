import type { Via } from '#lib/call/call-event';
import type { TokenBuckets } from '#lib/limits/token-bucket';
import type { ClientMessage, ClientMessageOf } from '#lib/protocol/client-messages';
import { LIMITS } from '#lib/protocol/limits';
import { CLOSE, PROTOCOL, type ServerMessage } from '#lib/protocol/server-messages';
import { given } from '#lib/util/given';
import { callerOf, isAdmin, type Principal, principalKey, viaOf } from '../auth/room.ts';
import type { Logger } from '../base/logger.ts';
import type { BlobStore } from '../blobs/room.ts';
import type { CallsOfClients, ClientInstances } from '../calls/room.ts';
import type { ToolOffers } from '../tools/room.ts';
import {
  storeAttachments,
  toClientAnswer,
  type UnreadableAnswer,
  unusableAnswer,
} from './client-answer.ts';
import {
  type ClientChannel,
  type ClientTable,
  Presence,
  type PresenceDeps,
} from './client-table.ts';
import type { Identities, Identity } from './identities.ts';

export interface ClientSessionDeps extends PresenceDeps {
  readonly identities: Identities;
  readonly registry: ToolOffers;
  readonly table: ClientTable;
  readonly calls: CallsOfClients;
  readonly instances: ClientInstances;
  readonly blobs: BlobStore;
  readonly uploads: TokenBuckets;
  readonly heartbeatMs: number;
  readonly logger: Logger;
  /** Sessions by instance, so that a returning instance can supersede its older session. */
  readonly live: Map<string, ClientSession>;
}

export type ClientSessions = ReturnType<typeof createClientSessions>;

/** The sessions of all clients that hold a channel open. */
export function createClientSessions(deps: Omit<ClientSessionDeps, 'live'>) {
  const shared: ClientSessionDeps = { ...deps, live: new Map() };
  return {
    open: (principal: Principal, channel: ClientChannel) =>
      new ClientSession(shared, principal, channel),
    /** Sends to the session of that instance, where it has one. */
    send: (instanceId: string, message: ServerMessage) =>
      shared.live.get(instanceId)?.send(message),
  };
}

/** A channel brings messages, and answers that could not be read. */
export type Received = ClientMessage | UnreadableAnswer;

type Answer = ClientMessageOf<'tool_result' | 'tool_error'>;

interface Client {
  readonly identity: Identity;
  readonly presence: Presence;
}

/**
 * The meaning of a client's messages, apart from how they travel. A client
 * without a hello is served all the same, under an id of its own.
 */
export class ClientSession {
  readonly #deps: ClientSessionDeps;
  readonly #principal: Principal;
  readonly #channel: ClientChannel;
  readonly #via: Via | undefined;
  /** Undefined before it is identified, and once it has left. */
  #client: Client | undefined;
  /** Settles when the client is live, or was not admitted. */
  #entered: Promise<void> | undefined;
  /** Messages that came before the client was identified, and its calls were resumed. */
  #queue: Received[] | undefined;
  #isConfirmed = false;
  #hasEnded = false;

  constructor(deps: ClientSessionDeps, principal: Principal, channel: ClientChannel) {
    this.#deps = deps;
    this.#principal = principal;
    this.#channel = channel;
    this.#via = viaOf(principal);
  }

  /** Null before the client is identified. */
  get instanceId(): string | null {
    return this.#client?.identity.instanceId ?? null;
  }

  /**
   * One parsed message. Messages are handled in the order in which they came. The
   * promise settles when the message is replied to; it never rejects. Behind a
   * registration the channel waits for that (RG1).
   */
  receive(message: Received): Promise<void> | undefined {
    if (this.#hasEnded) return undefined;
    if (!this.#entered) return this.#begin(message);
    if (this.#queue) {
      this.#queue.push(message);
      return this.#entered;
    }
    const client = this.#client;
    if (!client) return undefined;
    if (!this.#isConfirmed) {
      // It came behind the welcome, so the client has the new token.
      this.#isConfirmed = true;
      this.#deps.identities.confirm(client.identity).catch(this.#deps.logger.error);
    }
    return this.#handle(message, client.identity);
  }

  /** Sends a message that no message of the client asked for. */
  send(message: ServerMessage): void {
    if (this.#client) this.#channel.send(message);
  }

  /** The channel is gone. */
  closed(): void {
    const client = this.#leave();
    client?.presence.end();
  }

  /** Tells that the program replies to probes, or does not. A silent one is listed as such, and offered no calls. */
  setResponsive(isResponsive: boolean): void {
    const instanceId = this.#client?.identity.instanceId;
    if (instanceId === undefined) return;
    this.#deps.table.update(instanceId, { responsive: isResponsive });
    // Calls that waited because no client was responsive are offered.
    if (isResponsive) this.#deps.instances.toolsChanged(instanceId);
  }

  #begin(first: Received): Promise<void> {
    const isHello = first.type === 'hello';
    this.#queue = isHello ? [] : [first];
    this.#entered = this.#enter(isHello ? first : undefined).catch((error) => {
      this.#deps.logger.error(error);
      this.#channel.close(1011, 'The server could not admit the client; try again');
    });
    return this.#entered;
  }

  async #enter(hello: ClientMessageOf<'hello'> | undefined): Promise<void> {
    const { identities, heartbeatMs } = this.#deps;
    const client = await identities.ofHello(this.#principal, hello, (one) => this.#connect(one));
    if (!client) return;
    const { identity, presence } = client;
    const known = hello?.known ?? [];
    const back =
      identity.resumed || known.length > 0
        ? await presence.resumeCalls(known, this.#via)
        : { forget: [], cancel: [] };
    if (hello) this.#channel.send(createWelcome(identity, back, heartbeatMs));
    if (this.#hasEnded) return;
    const queue = this.#queue ?? [];
    this.#queue = undefined;
    // Sent before the welcome arrived, so these do not confirm the token.
    await Promise.all(
      queue.map((message) => (this.#client ? this.#handle(message, identity) : undefined)),
    );
  }

  /** Undefined where it has left meanwhile. */
  #connect(identity: Identity): Client | undefined {
    if (this.#hasEnded) return undefined;
    const { instanceId, instance } = identity;
    const { live } = this.#deps;
    // guard: older-connection-superseded
    live.get(instanceId)?.supersede();
    live.set(instanceId, this);
    this.#client = { identity, presence: new Presence(this.#deps, instance, this.#channel) };
    return this.#client;
  }

  #handle(message: Received, identity: Identity): Promise<void> | undefined {
    const { instanceId } = identity;
    const { calls, registry, instances } = this.#deps;
    switch (message.type) {
      case 'hello':
        this.#channel.send(badMessage('hello was sent already; it comes once, and first'));
        return undefined;
      case 'register_tools':
        return this.#register(message, identity).catch(this.#deps.logger.error);
      case 'unregister_tools':
        registry.unregister(instanceId, message.names);
        instances.toolsChanged(instanceId, message.names);
        return undefined;
      case 'tool_call_claim': {
        return this.#reply(calls.claim(this.#sender(identity, message.attempt), message.id));
      }
      case 'tool_status':
        calls.status(this.#sender(identity, message.attempt), message);
        return undefined;
      case 'tool_result':
      case 'tool_error':
        return this.#reply(this.#answer(message, identity));
      case 'unreadable_answer':
        return this.#reply(this.#rejectUnreadable(message, identity));
      case 'client_state':
        this.#updateState(message, instanceId);
        return undefined;
      case 'probe':
        this.#channel.send({ type: 'probe_ack', nonce: message.nonce });
        return undefined;
      case 'probe_ack':
        // Any message shows that the program runs; the socket counts them.
        return undefined;
    }
  }

  async #register({ tools }: ClientMessageOf<'register_tools'>, identity: Identity): Promise<void> {
    const { registry, instances } = this.#deps;
    const checked = await registry.check(tools);
    // A client that has left meanwhile offers nothing, also where its instance has a newer session.
    if (!this.#client) return;
    const registration = registry.register(identity, checked);
    this.#channel.send({ type: 'tools_registered', count: tools.length, ...registration });
    instances.toolsChanged(identity.instanceId);
  }

  async #answer(message: Answer, identity: Identity): Promise<ServerMessage> {
    const { calls, blobs, uploads } = this.#deps;
    const principal = this.#principal;
    const from = this.#sender(identity, message.attempt);
    if (message.type === 'tool_error' || hasNoFiles(message)) {
      // Decided in the same moment in which it came, so that answers keep their order.
      return calls.answer(from, message.id, toClientAnswer(message, []));
    }
    // An answer to a call that this client was not offered is rejected before its bytes are kept.
    const wasAsked = await calls.wasAsked(identity.clientId, message.id);
    const owner = principalKey(principal);
    const take = (bytes: number) =>
      isAdmin(callerOf(principal)) ? undefined : uploads.take(owner, bytes);
    const answer = wasAsked
      ? await storeAttachments(message, { blobs, owner, take })
      : toClientAnswer(message, []);
    return calls.answer(from, message.id, answer);
  }

  #rejectUnreadable(
    { id, attempt, message }: UnreadableAnswer,
    identity: Identity,
  ): Promise<ServerMessage> {
    const answer = unusableAnswer(`The answer cannot be read: ${message}`);
    return this.#deps.calls.answer(this.#sender(identity, attempt), id, answer);
  }

  #sender<A extends number | undefined>({ clientId, instanceId }: Identity, attempt: A) {
    return { clientId, instanceId, attempt, via: this.#via };
  }

  #updateState(message: ClientMessageOf<'client_state'>, instanceId: string): void {
    const { table } = this.#deps;
    const { visibility, permissions, secure_context: secureContext } = message;
    if (message.touched) table.touch(instanceId, message.touched_ago_ms);
    table.update(instanceId, {
      ...given({ permissions, secureContext, battery: message.battery }),
      ...(visibility && { visible: visibility === 'visible' }),
    });
  }

  #reply(promise: Promise<ServerMessage>): Promise<void> {
    return promise.then((message) => {
      if (this.#client) this.#channel.send(message);
      // fault point: reply-sent
    }, this.#deps.logger.error);
  }

  /** A newer session of the instance is live: messages of this one have no effect any more. */
  supersede(): void {
    this.#leave()?.presence.supersede();
    this.#channel.close(CLOSE.superseded, 'The same client connected again');
  }

  #leave(): Client | undefined {
    const client = this.#client;
    this.#client = undefined;
    this.#hasEnded = true;
    if (client) this.#deps.live.delete(client.identity.instanceId);
    return client;
  }
}

const badMessage = (message: string): ServerMessage => ({
  type: 'error',
  code: 'bad_message',
  message,
});

const createWelcome = (
  { clientId, resumeToken, resumed }: Identity,
  { forget, cancel }: { forget: string[]; cancel: string[] },
  heartbeatMs: number,
): ServerMessage => ({
  type: 'welcome',
  client_id: clientId,
  resume_token: resumeToken,
  resumed,
  heartbeat_ms: heartbeatMs,
  limits: { ...LIMITS },
  forget,
  cancel,
  protocol: PROTOCOL,
});

const hasNoFiles = ({ attachments }: ClientMessageOf<'tool_result'>): boolean =>
  attachments === undefined || (Array.isArray(attachments) && attachments.length === 0);
