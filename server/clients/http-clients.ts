import { isPolling, POLLING_INSTANCE } from '#lib/call/call';
import type { Via } from '#lib/call/call-event';
import type { CallStatus } from '#lib/protocol/call-status';
import { HttpError } from '#lib/protocol/http-error';
import { CLOCKS } from '#lib/protocol/limits';
import type { SubmitBody } from '#lib/protocol/rest';
import type { ServerMessage, ServerMessageOf } from '#lib/protocol/server-messages';
import { isAllClients } from '#lib/protocol/tool-name';
import { type Caller, viaOf } from '../auth/room.ts';
import { type Clock, waitFor } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { CallService, CallsOfClients, ClientInstances } from '../calls/room.ts';
import type { Store } from '../store/room.ts';
import type { CheckedSpec, ToolOffers } from '../tools/room.ts';
import { toFailure } from './client-answer.ts';
import {
  type ClientChannel,
  type ConnectedInstance,
  Presence,
  type PresenceDeps,
} from './client-table.ts';
import { type Identities, pollingOwner } from './identities.ts';
import type { KeptRegistrations } from './kept-registrations.ts';

type CallRequest = ServerMessageOf<'tool_call_request'>;

/** The channel of a client that polls: requests wait here until it asks. */
class Mailbox implements ClientChannel {
  readonly #clock: Pick<Clock, 'schedule'>;
  #requests: CallRequest[] = [];
  /** Ends the poll that waits now. */
  #wake: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'schedule'>) {
    this.#clock = clock;
  }

  send(message: ServerMessage): void {
    if (message.type !== 'tool_call_request' && message.type !== 'tool_call_cancel') return;
    // The call has ended, or is requested anew under the next attempt.
    this.#requests = this.#requests.filter(({ id }) => id !== message.id);
    if (message.type === 'tool_call_cancel') return;
    this.#requests.push(message);
    this.#wake?.();
  }

  /** There is no connection to close: the client's next poll ends it, or its silence. */
  close(): void {}

  takeAll(): CallRequest[] {
    return this.#requests.splice(0);
  }

  /** Puts back requests that were taken and not handed out; they come first. */
  putBack(requests: readonly CallRequest[]): void {
    this.#requests.unshift(...requests);
  }

  /** Resolves when there is a request, after `waitMs`, or when one of the signals aborts. */
  arrival(waitMs: number, signals: readonly AbortSignal[]): Promise<void> {
    if (this.#requests.length > 0 || waitMs <= 0) return Promise.resolve();
    if (signals.some(({ aborted }) => aborted)) return Promise.resolve();
    return waitFor(this.#clock, waitMs, signals, (end) => {
      // The newest poll gets what comes; an older one ends without a request.
      this.#wake?.();
      this.#wake = end;
      return () => {
        if (this.#wake === end) this.#wake = undefined;
      };
    });
  }
}

export interface HttpClientsDeps extends PresenceDeps {
  readonly store: Pick<Store, 'write'>;
  readonly identities: Identities;
  readonly registry: ToolOffers;
  readonly registrations: KeptRegistrations;
  readonly logger: Pick<Logger, 'error'>;
  readonly calls: Pick<CallService, 'get'>;
  readonly answers: CallsOfClients;
  readonly instances: ClientInstances;
  readonly clock: Clock;
  /** The server stops: polls that wait are answered with what there is. */
  readonly closing: AbortSignal;
  /** False once the token of a caller is revoked, which may happen while a request is handled. */
  isLive(principal: Pick<Caller, 'tokenId'>): boolean;
}

/** A client that polls, from its first request until it is silent for `KEEP_MS`. */
interface PollingClient {
  readonly clientId: string;
  readonly instanceId: string;
  readonly owner: string;
  readonly mailbox: Mailbox;
  readonly presence: Presence;
  cancelExpiry: () => void;
  /** Settles when the tools of its registrations so far are checked. */
  checked: Promise<void>;
}

/** A client without a request for this long is gone, and its tools with it. */
const KEEP_MS = 60_000;
/** This many clients of one principal may poll, as may have sockets. */
const MOST_CLIENTS = 2_500;

/**
 * Clients without a socket (contract, section 7): they register, poll for
 * requests, and submit. The HTTP layer has checked the credential and the body's shape. A poll claims: a request is handed out once, and that it
 * was is on disk before. A client id belongs to the principal that used it first.
 */
export class HttpClients {
  readonly #deps: HttpClientsDeps;
  readonly #clients = new Map<string, PollingClient>();
  /** By client id, while its owner is being looked up. */
  readonly #opening = new Map<string, Promise<PollingClient | undefined>>();

  constructor(deps: HttpClientsDeps) {
    this.#deps = deps;
  }

  /** Offers again what was registered when the server stopped, as long as the grace of a return is. */
  async restore(): Promise<void> {
    for (const [clientId, { owner, tokenId, tools }] of await this.#deps.registrations.load()) {
      if (!this.#deps.isLive({ tokenId })) {
        await this.#deps.registrations.forget(clientId);
        continue;
      }
      const client = this.#connect(clientId, owner);
      await client.presence.resumeCalls([]);
      const { registry } = this.#deps;
      registry.register(client, await registry.check(Object.values(tools).map(toSpec)));
      this.#keepAlive(client, CLOCKS.resumeMs);
    }
  }

  /** `tools` are as they came: each is checked by itself. */
  async register(
    principal: Caller,
    { client_id, tools }: { readonly client_id: string; readonly tools: readonly unknown[] },
  ) {
    // First whose id it is: to check many tools takes seconds.
    const sender = await this.#clientFor(principal, client_id);
    this.#keepAlive(sender);
    const { registry, instances, store } = this.#deps;
    const inOrder = Promise.all([registry.check(tools.map(toSpec)), sender.checked]);
    sender.checked = inOrder.then(() => {});
    const [checked] = await inOrder;
    // After a minute of silence it is another one, and was none in between.
    const client = await this.#clientFor(principal, client_id);
    this.#keepAlive(client);
    const { registered, ...rejections } = registry.register(client, checked);
    await this.#deps.registrations.add(client.clientId, {
      owner: client.owner,
      tokenId: principal.tokenId,
      tools: acceptedOf(tools, checked),
    });
    instances.toolsChanged(client.instanceId);
    // Requests that are due again are in its mailbox before it reads that it is registered.
    await store.write([]);
    return { registered_count: registered, ...rejections };
  }

  /** Resolves with at least one request, or with none after `waitMs` or when `signal` aborts. */
  async requests(
    principal: Caller,
    clientId: string,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<CallRequest[]> {
    const client = await this.#clientFor(principal, clientId);
    client.cancelExpiry();
    await client.mailbox.arrival(waitMs, [signal, this.#deps.closing]);
    this.#keepAlive(client);
    return this.#claimWaiting(client, viaOf(principal), signal);
  }

  /** Resolves with the status of the call after it. */
  async submit(principal: Caller, callId: string, submission: SubmitBody): Promise<CallStatus> {
    const { calls, answers, identities } = this.#deps;
    const record = await calls.get(callId);
    if (!record) throw new HttpError('call_not_found', `No call ${callId} is known here`);
    const { provider } = record;
    if (
      !provider ||
      !isPolling(provider) ||
      !(await identities.isOwn(principal, provider.clientId))
    ) {
      const message = `The call ${callId} was not given to a client that submits over HTTP as you`;
      throw new HttpError('permission_denied', message);
    }
    const { clientId, instanceId, attempt } = provider;
    this.#keepAlive(await this.#clientFor(principal, clientId));
    const from = { clientId, instanceId, attempt: undefined, via: viaOf(principal) };
    // An answer to a request that was not fetched claims the call as well.
    if (record.phase === 'offered') await answers.claim({ ...from, attempt }, callId);
    const reply = await answers.answer(from, callId, toAnswer(submission));
    if (reply.type === 'result_rejected') throw new HttpError('conflict', reply.message);
    if (reply.disposition === 'late') {
      const message = `The call ${callId} had ended before; your answer is kept beside it`;
      throw new HttpError('already_final', message);
    }
    return (await calls.get(callId))?.status ?? submission.status;
  }

  /** It is gone for good: nothing of it waits until it is silent for long. */
  end(clientId: string): void {
    const client = this.#clients.get(clientId);
    if (!client) return;
    client.cancelExpiry();
    this.#leave(client);
  }

  #leave(client: PollingClient): void {
    this.#clients.delete(client.clientId);
    client.presence.end();
    this.#deps.registrations.forget(client.clientId).catch(this.#deps.logger.error);
  }

  /** A device is the client that it was paired as. Refused when the id belongs to another principal. */
  async #clientFor(principal: Caller, named: string): Promise<PollingClient> {
    const clientId = principal.kind === 'device' ? principal.clientId : named;
    while (this.#opening.has(clientId)) await this.#opening.get(clientId);
    const known = this.#clients.get(clientId);
    if (known?.owner === pollingOwner(principal)) return known;
    if (!known) {
      const opened = this.#open(principal, clientId).finally(() => this.#opening.delete(clientId));
      this.#opening.set(clientId, opened);
      // Those that wait for it go on behind this one.
      const client = await opened;
      if (client) return client;
    }
    const { identities, logger } = this.#deps;
    identities.noteRefused(principal, clientId).catch(logger.error);
    const whose = isAllClients(named) ? 'means each client' : 'belongs to another client';
    throw new HttpError(
      'conflict',
      `The client id ${JSON.stringify(named)} ${whose}. Register under an id of your own`,
    );
  }

  async #open(principal: Caller, clientId: string): Promise<PollingClient | undefined> {
    const { identities, clock, isLive } = this.#deps;
    const owner = pollingOwner(principal);
    const own = this.#clients.values().filter((one) => one.owner === owner);
    if (own.toArray().length >= MOST_CLIENTS)
      throw new HttpError('rate_limited', 'Too many clients poll as you.', { retryAfter: 60 });
    if (!(await identities.ofPolling(principal, toInstance(clientId, clock.now()))))
      return undefined;
    // A client that was ended does not come back by a request that was under way.
    if (!isLive(principal)) return undefined;
    const client = this.#connect(clientId, owner);
    // Calls that it had not fetched or answered are its own again.
    await client.presence.resumeCalls([], viaOf(principal));
    return client;
  }

  #connect(clientId: string, owner: string): PollingClient {
    const { clock } = this.#deps;
    const instance = toInstance(clientId, clock.now());
    const mailbox = new Mailbox(clock);
    const client = {
      clientId,
      instanceId: instance.instanceId,
      owner,
      mailbox,
      presence: new Presence(this.#deps, instance, mailbox),
      cancelExpiry: () => {},
      checked: Promise.resolve(),
    };
    this.#clients.set(clientId, client);
    return client;
  }

  #keepAlive(client: PollingClient, forMs = KEEP_MS): void {
    client.cancelExpiry();
    if (this.#clients.get(client.clientId) !== client) return;
    client.cancelExpiry = this.#deps.clock.schedule(forMs, () => this.#leave(client));
  }

  /** Claims what waits: what is handed out is on disk as such before, and what has ended is not. */
  async #claimWaiting(
    { clientId, instanceId, mailbox }: PollingClient,
    via: Via | undefined,
    signal: AbortSignal,
  ): Promise<CallRequest[]> {
    // The poll is over: what came stays for the next one.
    if (signal.aborted) return [];
    const { answers } = this.#deps;
    const waiting = mailbox.takeAll();
    const replies = await Promise.allSettled(
      waiting.map(({ id, attempt }) => answers.claim({ clientId, instanceId, attempt, via }, id)),
    );
    const granted: CallRequest[] = [];
    const failed: { request: CallRequest; error: unknown }[] = [];
    for (const [at, request] of waiting.entries()) {
      const reply = replies[at];
      if (reply?.status === 'rejected') failed.push({ request, error: reply.reason });
      else if (reply?.value.type === 'tool_call_granted') granted.push(request);
    }
    // Not handed out, so not lost: the next poll tries the claim again, or reports why it fails.
    mailbox.putBack(failed.map(({ request }) => request));
    const [first] = failed;
    if (first && granted.length === 0) throw first.error;
    if (!signal.aborted) return granted;
    mailbox.putBack(granted);
    return [];
  }
}

const toAnswer = ({ status, result, error }: SubmitBody) =>
  status === 'SUCCEEDED'
    ? ({ ok: true, output: result ?? null, attachments: [] } as const)
    : toFailure(error?.message ?? '', error?.code);

const toInstance = (clientId: string, connectedAt: number): ConnectedInstance => ({
  clientId,
  instanceId: `${POLLING_INSTANCE}${clientId}`,
  name: clientId,
  kind: 'program',
  caps: ['claim'],
  journalEpoch: null,
  visible: true,
  responsive: true,
  connectedAt,
});

/** Gives those of the tools that were sent that are good, by name. */
const acceptedOf = (sent: readonly unknown[], checked: readonly CheckedSpec[]) =>
  Object.fromEntries(
    checked.flatMap((one, at) => (one.ok ? [[one.tool.name, sent[at]] as const] : [])),
  );

/** This interface has `schema` where the socket has `parameters`, and requires no description. */
function toSpec(tool: unknown): unknown {
  if (typeof tool !== 'object' || tool === null) return tool;
  const { schema, ...rest } = tool as Record<string, unknown>;
  const name = 'name' in tool ? String(tool.name) : 'this tool';
  return { description: `The tool ${name}`, parameters: schema, ...rest };
}
