import { isPolling, POLLING_INSTANCE } from '#lib/call/call-record';
import type { ServerMessageOf } from '#lib/protocol/server-messages';
import { type Principal, principalName } from '../auth/principal.ts';
import type { CallService } from '../calls/call-service.ts';
import type { ClientCalls } from '../calls/client-calls.ts';
import type { InstanceChanges } from '../calls/instance-changes.ts';
import type { Clock } from '../clock.ts';
import { type EventBus, instanceAddress } from '../events/event-bus.ts';
import type { HttpClientService } from '../http/http-client-service.ts';
import type { Store } from '../store/store.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { toFailure } from './client-answer.ts';
import type { ClientIds } from './client-ids.ts';
import type { ClientTable, ConnectedInstance } from './client-table.ts';

type CallRequest = ServerMessageOf<'tool_call_request'>;

interface Mailbox {
  readonly clientId: string;
  readonly instanceId: string;
  readonly owner: string;
  requests: CallRequest[];
  /** Answers the poll that is waiting now. */
  wake: (() => void) | undefined;
  undoExpiry: () => void;
  closeInbox: () => void;
}

/** A client that has not asked for this long is gone, and its tools with it. */
const KEEP_MS = 60_000;

/**
 * Clients without a socket (contract, section 7): they register, ask what is to
 * be done, and submit. Asking claims: a request is handed out once, and that it
 * was is on disk before. A client id belongs to the principal that used it first.
 */
export function createHttpClients(deps: {
  store: Pick<Store, 'findClient' | 'write'>;
  ids: ClientIds;
  bus: EventBus;
  registry: ToolRegistry;
  table: ClientTable;
  calls: Pick<CallService, 'get'>;
  answers: ClientCalls;
  instances: InstanceChanges;
  clock: Clock;
  /** Whoever waits is answered with what there is. */
  closing: AbortSignal;
}): HttpClientService {
  const { bus, registry, table, clock, store } = deps;
  const boxes = new Map<string, Mailbox>();
  /** Of clients whose owner is being looked up. */
  const opening = new Map<string, Promise<Mailbox | undefined>>();

  /** Of a client that this principal may speak for; undefined when the id is another's. */
  async function boxOf(principal: Principal, clientId: string): Promise<Mailbox | undefined> {
    while (opening.has(clientId)) await opening.get(clientId);
    const open = boxes.get(clientId);
    if (open) return open.owner === ownerOf(principal) ? open : undefined;
    const opened = openBox(principal, clientId).finally(() => opening.delete(clientId));
    opening.set(clientId, opened);
    return opened;
  }

  async function openBox(principal: Principal, clientId: string): Promise<Mailbox | undefined> {
    const owner = ownerOf(principal);
    const isOwn = principal.kind === 'device' || (await store.findClient(clientId, owner));
    const isStored = isOwn ? () => {} : await deps.ids.take(clientId);
    if (!isStored) return undefined;
    const instanceId = `${POLLING_INSTANCE}${clientId}`;
    const instance = toInstance({ clientId, instanceId }, clock.now());
    try {
      const { name, kind, journalEpoch, connectedAt: lastSeenAt } = instance;
      const seen = { clientId, instanceId, name, kind, journalEpoch, lastSeenAt };
      await store.write([{ type: 'put_client', client: { ...seen, resumeTokenHash: owner } }]);
    } finally {
      isStored();
    }
    const box = createBox({ clientId, instanceId, owner });
    boxes.set(clientId, box);
    table.add(instance);
    // What it had not fetched or answered is its own again.
    const before = { clientId, previousInstanceId: instanceId, instanceId };
    await deps.instances.back({ ...before, journalEpoch: null, known: [] });
    return box;
  }

  function createBox(of: Pick<Mailbox, 'clientId' | 'instanceId' | 'owner'>): Mailbox {
    const address = instanceAddress(of.clientId, of.instanceId);
    const box: Mailbox = {
      ...of,
      requests: [],
      wake: undefined,
      undoExpiry: () => {},
      closeInbox: bus.openInbox(address, (received) => {
        if (received.type !== 'send') return;
        const { message } = received;
        if (message.type !== 'tool_call_request' && message.type !== 'tool_call_cancel') return;
        // Ended, or asked anew under the next attempt.
        box.requests = box.requests.filter(({ id }) => id !== message.id);
        if (message.type === 'tool_call_cancel') return;
        box.requests.push(message);
        box.wake?.();
      }),
    };
    return box;
  }

  function keepAlive(box: Mailbox): void {
    box.undoExpiry();
    box.undoExpiry = clock.schedule(KEEP_MS, () => leave(box));
  }

  function leave(box: Mailbox): void {
    boxes.delete(box.clientId);
    box.closeInbox();
    registry.drop(box.instanceId);
    table.remove(box.instanceId);
    deps.instances.gone(box.instanceId);
  }

  return {
    async register(principal, { client_id, tools }) {
      const box = await boxOf(principal, ownId(principal, client_id));
      if (!box) return notYours(client_id);
      keepAlive(box);
      const specs = tools.map(toSpec);
      const { registered, ...refused } = registry.register(box, specs);
      deps.instances.toolsChanged(box.instanceId);
      // What it is asked again lies in its box before it reads that it is registered.
      await store.write([]);
      return { ok: true, registered_count: registered, ...refused };
    },

    async requests(principal, clientId, waitMs, signal) {
      const box = await boxOf(principal, ownId(principal, clientId));
      if (!box) return notYours(clientId);
      box.undoExpiry();
      if (waitMs > 0 && box.requests.length === 0) await arrival(box, waitMs, signal);
      keepAlive(box);
      return { ok: true, requests: await take(box, signal) };
    },

    async submit(principal, callId, { status, result, error }) {
      const record = await deps.calls.get(callId);
      if (!record) {
        return { ok: false, code: 'call_not_found', message: `No call ${callId} is known here` };
      }
      const { provider } = record;
      if (!provider || !isPolling(provider) || !(await isOwner(principal, provider.clientId))) {
        const message = `The call ${callId} was not given to a client that submits over HTTP as you`;
        return { ok: false, code: 'permission_denied', message };
      }
      const { clientId, instanceId, attempt } = provider;
      const from = { clientId, instanceId, attempt: undefined };
      // An answer to what it did not fetch: it takes the call all the same.
      if (record.phase === 'offered') await deps.answers.claim({ ...from, attempt }, callId);
      const reply = await deps.answers.answer(
        from,
        callId,
        status === 'SUCCEEDED'
          ? { ok: true, output: result ?? null, attachments: [] }
          : toFailure(error?.message ?? '', error?.code),
      );
      if (reply.type === 'result_rejected') {
        return { ok: false, code: 'conflict', message: reply.message };
      }
      if (reply.disposition === 'late') {
        const message = `The call ${callId} had ended before; your answer is kept beside it`;
        return { ok: false, code: 'already_final', message };
      }
      const after = await deps.calls.get(callId);
      return { ok: true, status: after?.status ?? status };
    },
  };

  /** Claims what waits: what was handed out is on disk as such before, and what has ended is not. */
  async function take(box: Mailbox, signal: AbortSignal): Promise<CallRequest[]> {
    // The poll is over: what came stays for the next one.
    if (signal.aborted) return [];
    const { clientId, instanceId } = box;
    const waiting = box.requests.splice(0);
    const replies = await Promise.allSettled(
      waiting.map(({ id, attempt }) => deps.answers.claim({ clientId, instanceId, attempt }, id)),
    );
    const granted: CallRequest[] = [];
    const failed: { request: CallRequest; error: unknown }[] = [];
    for (const [at, request] of waiting.entries()) {
      const reply = replies[at];
      if (reply?.status === 'rejected') failed.push({ request, error: reply.reason });
      else if (reply?.value.type === 'tool_call_granted') granted.push(request);
    }
    // Not handed out, so not lost: the next poll tries the claim again, or reports why it fails.
    box.requests.unshift(...failed.map(({ request }) => request));
    const [first] = failed;
    if (first && granted.length === 0) throw first.error;
    if (!signal.aborted) return granted;
    box.requests.unshift(...granted);
    return [];
  }

  async function isOwner(principal: Principal, clientId: string): Promise<boolean> {
    if (principal.kind === 'device') return principal.clientId === clientId;
    return (await store.findClient(clientId, ownerOf(principal))) !== undefined;
  }

  function arrival(box: Mailbox, waitMs: number, signal: AbortSignal): Promise<void> {
    if (deps.closing.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        undo();
        if (box.wake === done) box.wake = undefined;
        signal.removeEventListener('abort', done);
        deps.closing.removeEventListener('abort', done);
        resolve();
      };
      const undo = clock.schedule(waitMs, done);
      // The newest poll gets what comes; an older one is answered empty.
      box.wake?.();
      box.wake = done;
      signal.addEventListener('abort', done, { once: true });
      deps.closing.addEventListener('abort', done, { once: true });
    });
  }
}

/** In the place of a token's hash, and like none. */
const ownerOf = (principal: Principal): string => `principal:${principalName(principal)}`;

const notYours = (clientId: string) =>
  ({
    ok: false,
    code: 'conflict',
    message: `The client id ${JSON.stringify(clientId)} belongs to another client. Register under an id of your own`,
  }) as const;

const toInstance = (
  { clientId, instanceId }: Pick<Mailbox, 'clientId' | 'instanceId'>,
  connectedAt: number,
): ConnectedInstance => ({
  clientId,
  instanceId,
  name: clientId,
  kind: 'program',
  caps: ['claim'],
  journalEpoch: null,
  visible: true,
  responsive: true,
  permissions: undefined,
  secureContext: undefined,
  connectedAt,
});

const ownId = (principal: Principal, clientId: string): string =>
  principal.kind === 'device' ? principal.clientId : clientId;

/** This interface says `schema` where the socket says `parameters`, and needs no description. */
function toSpec(tool: unknown): unknown {
  if (typeof tool !== 'object' || tool === null) return tool;
  const { schema, ...rest } = tool as Record<string, unknown>;
  const name = 'name' in tool ? String(tool.name) : 'this tool';
  return { description: `The tool ${name}`, parameters: schema, ...rest };
}
