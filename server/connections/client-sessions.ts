import type { ClientMessage, ClientMessageOf } from '#lib/protocol/client-messages';
import { LIMITS } from '#lib/protocol/limits';
import { CLOSE, PROTOCOL, type ServerMessage } from '#lib/protocol/server-messages';
import type { Principal } from '../auth/principal.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { ClientCalls } from '../calls/client-calls.ts';
import type { InstanceChanges } from '../calls/instance-changes.ts';
import type { Clock } from '../clock.ts';
import { type EventBus, instanceAddress } from '../events/event-bus.ts';
import type { Store } from '../store/store.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { toClientAnswer, type UnreadableAnswer } from './client-answer.ts';
import type { ClientIds } from './client-ids.ts';
import type { ClientTable } from './client-table.ts';
import { type Identity, identify, tokenHeard } from './identify.ts';

export interface ClientSessionDeps {
  readonly store: Store;
  readonly bus: EventBus;
  readonly registry: ToolRegistry;
  readonly ids: ClientIds;
  readonly table: ClientTable;
  readonly calls: ClientCalls;
  readonly instances: InstanceChanges;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  newId(): string;
  newSecret(): string;
  secretAfter(token: string): string;
  onError(error: unknown): void;
}

/** What a channel brings: what was understood, and the answers among the rest. */
export type Received = ClientMessage | UnreadableAnswer;

/** The way to the client's program: a socket, or later something else. */
export interface ClientChannel {
  send(message: ServerMessage): void;
  close(code: number, reason: string): void;
}

export interface ClientSession {
  /** One message that was parsed already. Messages are handled in the order in which they came. */
  receive(message: Received): void;
  /** The channel is gone. */
  closed(): void;
  /** Its program answers, or no longer does: silent ones are shown as such, and not offered calls. */
  answering(isAnswering: boolean): void;
  /** Null before it has said who it is. */
  readonly instanceId: string | null;
}

/**
 * What a client's messages mean, apart from how they travel. A client that does
 * not say hello works all the same, under an id of its own.
 */
export function createClientSessions(deps: ClientSessionDeps) {
  const { registry, table, calls, instances, bus } = deps;
  /** Live sessions by instance, so that a returning instance can supersede the older one. */
  const live = new Map<string, { supersede(): void }>();
  const arriving = new Set<string>();
  /** Writes of tokens as arrived, which a client that comes by an older one has to wait for. */
  const arrivals = new Set<Promise<void>>();
  const identifyDeps = {
    ...deps,
    holdsCalls: instances.holdsCalls,
    arriving,
    arrivalsWritten: () => Promise.all(arrivals),
  };

  function open(principal: Principal, channel: ClientChannel): ClientSession {
    let identity: Identity | undefined;
    let beginning: Promise<void> | undefined;
    let waiting: Received[] = [];
    let hasSpoken = false;
    let dead = false;
    let closeInbox = () => {};

    async function begin(hello: ClientMessageOf<'hello'> | undefined): Promise<void> {
      const who = await identify(identifyDeps, principal, hello);
      arriving.delete(who.instanceId);
      if (dead) return;
      live.get(who.instanceId)?.supersede();
      live.set(who.instanceId, { supersede });
      identity = who;
      const address = instanceAddress(who.clientId, who.instanceId);
      closeInbox = bus.openInbox(address, (message) => {
        if (message.type === 'send') channel.send(message.message);
        else channel.close(message.code, message.reason);
      });
      table.add(who.instance);
      const known = hello?.known ?? [];
      const { journalEpoch } = who.instance;
      const { clientId, instanceId } = who;
      const back =
        who.resumed || known.length > 0
          ? await instances.back({
              clientId,
              previousInstanceId: instanceId,
              instanceId,
              journalEpoch,
              known,
            })
          : { forget: [], cancel: [] };
      if (hello) channel.send(welcome(who, back, deps.heartbeatMs));
    }

    function receive(message: Received): void {
      if (dead) return;
      if (beginning) {
        waiting.push(message);
      } else if (identity) {
        if (!hasSpoken) spoke(identity);
        handle(message, identity);
      } else {
        beginning = begin(message.type === 'hello' ? message : undefined).then(ready, failed);
        if (message.type !== 'hello') waiting.push(message);
      }
    }

    /** What it says after its welcome shows that it has the new token. */
    function spoke(who: Identity): void {
      hasSpoken = true;
      const changes = tokenHeard(who);
      if (changes.length === 0) return;
      const written = deps.store.write(changes).catch(deps.onError);
      arrivals.add(written);
      void written.finally(() => arrivals.delete(written));
    }

    function ready(): void {
      beginning = undefined;
      const queue = waiting;
      waiting = [];
      // Said before the welcome was: it tells nothing of the token.
      for (const message of queue) if (!dead && identity) handle(message, identity);
    }

    function failed(error: unknown): void {
      deps.onError(error);
      channel.close(1011, 'The server could not take the client in; try again');
    }

    function handle(message: Received, who: Identity): void {
      const { clientId, instanceId } = who;
      switch (message.type) {
        case 'hello':
          return channel.send(badMessage('hello was said already; it comes once, and first'));
        case 'register_tools':
          return register(message, who);
        case 'unregister_tools':
          registry.unregister(instanceId, message.names);
          instances.toolsChanged(instanceId);
          return;
        case 'tool_call_claim':
          return reply(calls.claim({ clientId, instanceId, attempt: message.attempt }, message.id));
        case 'tool_status':
          return calls.status({ clientId, instanceId, attempt: message.attempt }, message);
        case 'tool_result':
        case 'tool_error':
          return reply(answer(message, who));
        case 'unreadable_answer':
          return reply(refuseUnreadable(message, who));
        case 'client_state':
          return state(message, instanceId);
        case 'probe':
          return channel.send({ type: 'probe_ack', nonce: message.nonce });
        case 'probe_ack':
          // Any word shows that it lives; the socket sees to that.
          return;
      }
    }

    function register(message: ClientMessageOf<'register_tools'>, who: Identity): void {
      const registration = registry.register(who, message.tools);
      channel.send({ type: 'tools_registered', count: message.tools.length, ...registration });
      instances.toolsChanged(who.instanceId);
    }

    async function answer(
      message: ClientMessageOf<'tool_result' | 'tool_error'>,
      { clientId, instanceId }: Identity,
    ) {
      const from = { clientId, instanceId, attempt: message.attempt };
      if (message.type === 'tool_error' || !message.attachments?.length) {
        // Decided in the same moment in which it came, so that answers keep their order.
        return calls.answer(from, message.id, toClientAnswer(message, []));
      }
      // What nobody asked this client for is refused before its bytes are kept.
      const asked = await calls.wasAsked(clientId, message.id);
      const stored = asked ? await storeAttachments(message, deps.blobs) : unasked(message);
      return calls.answer(from, message.id, stored);
    }

    function refuseUnreadable({ id, attempt, message }: UnreadableAnswer, who: Identity) {
      const from = { clientId: who.clientId, instanceId: who.instanceId, attempt };
      return calls.answer(from, id, unusable(`The answer cannot be read: ${message}`));
    }

    function reply(promise: Promise<ServerMessage>): void {
      promise.then((message) => {
        if (!dead) channel.send(message);
      }, deps.onError);
    }

    function state(message: ClientMessageOf<'client_state'>, instanceId: string): void {
      if (message.touched) table.touch(instanceId);
      table.update(instanceId, {
        ...(message.visibility === undefined ? {} : { visible: message.visibility === 'visible' }),
        ...(message.permissions === undefined ? {} : { permissions: message.permissions }),
        ...(message.secure_context === undefined ? {} : { secureContext: message.secure_context }),
      });
    }

    /** A newer instance of the same program is here: nothing that this one says counts any more. */
    function supersede(): void {
      leave();
      channel.close(CLOSE.superseded, 'The same client connected again');
    }

    function leave(): void {
      dead = true;
      closeInbox();
      if (!identity) return;
      registry.drop(identity.instanceId);
      table.remove(identity.instanceId);
      live.delete(identity.instanceId);
    }

    return {
      receive,
      closed() {
        if (dead) return;
        leave();
        if (identity) instances.gone(identity.instanceId);
      },
      answering(isAnswering) {
        if (dead || !identity) return;
        table.update(identity.instanceId, { responsive: isAnswering });
        // What waited because nobody answered is offered.
        if (isAnswering) instances.toolsChanged(identity.instanceId);
      },
      get instanceId() {
        return identity?.instanceId ?? null;
      },
    };
  }

  return { open };
}

export type ClientSessions = ReturnType<typeof createClientSessions>;

async function storeAttachments(message: ClientMessageOf<'tool_result'>, blobs: BlobStore) {
  const stored = [];
  for (const upload of message.attachments ?? []) {
    const { name, alt } = upload;
    const described = {
      ...(name === undefined ? {} : { name }),
      ...(alt === undefined ? {} : { alt }),
    };
    if ('blob_id' in upload) {
      const blob = await blobs.read(upload.blob_id);
      if (!blob) return unusable(`There is no blob ${upload.blob_id}; upload it before the result`);
      stored.push({ ...blob.attachment, ...described });
      continue;
    }
    const bytes = decodeBase64(upload.data);
    if (!bytes) return unusable(`The data of an attachment of ${upload.media_type} is not base64`);
    if (bytes.length > LIMITS.attachmentBytes) return attachmentTooLarge(bytes.length);
    const put = await blobs.put({ mediaType: upload.media_type, bytes, ...described });
    if (!put.ok) return unusable(put.message, put.code === 'too_large' ? TOO_LARGE : INVALID);
    stored.push({ ...put.attachment, ...described });
  }
  return toClientAnswer(message, stored);
}

const unasked = (message: ClientMessageOf<'tool_result'>) => toClientAnswer(message, []);

/** `Buffer` skips what is no base64, and would keep other bytes than were meant. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  const isWhole = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  return isWhole ? bytes : undefined;
}

const INVALID = 'result_invalid';
const TOO_LARGE = 'result_too_large';

const unusable = (message: string, code: typeof INVALID | typeof TOO_LARGE = INVALID) =>
  ({ ok: 'unusable', code, message }) as const;

const attachmentTooLarge = (bytes: number) =>
  unusable(
    `An attachment has ${bytes} bytes; in a message it may have ${LIMITS.attachmentBytes}. Upload it by POST /v1/blobs and name its blob_id`,
    TOO_LARGE,
  );

const badMessage = (message: string): ServerMessage => ({
  type: 'error',
  code: 'bad_message',
  message,
});

const welcome = (
  who: Identity,
  back: { forget: string[]; cancel: string[] },
  heartbeatMs: number,
): ServerMessage => ({
  type: 'welcome',
  client_id: who.clientId,
  resume_token: who.resumeToken,
  resumed: who.resumed,
  heartbeat_ms: heartbeatMs,
  limits: { ...LIMITS },
  forget: back.forget,
  cancel: back.cancel,
  protocol: PROTOCOL,
});
