import type { SubmitBody } from '#lib/protocol/rest';
import type { ServerMessageOf } from '#lib/protocol/server-messages';
import type { Principal } from '../auth/principal.ts';
import { type EventBus, instanceAddress } from '../bus/event-bus.ts';
import type { CallService } from '../calls/call-service.ts';
import type { ClientAnswer, ClientCalls } from '../calls/client-calls.ts';
import type { InstanceChanges } from '../calls/instance-changes.ts';
import type { Clock } from '../clock.ts';
import type { HttpClientService } from '../http/http-client-service.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { ClientTable } from './client-table.ts';
import { POLLING_INSTANCE } from './identify.ts';

type CallRequest = ServerMessageOf<'tool_call_request'>;

interface Mailbox {
  readonly clientId: string;
  readonly instanceId: string;
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
 * be done, and submit. They do not claim, so a request is handed out once.
 */
export function createHttpClients(deps: {
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
  const { bus, registry, table, clock } = deps;
  const boxes = new Map<string, Mailbox>();

  function boxOf(clientId: string): Mailbox {
    const known = boxes.get(clientId);
    if (known) return known;
    const instanceId = `${POLLING_INSTANCE}${clientId}`;
    const box: Mailbox = {
      clientId,
      instanceId,
      requests: [],
      wake: undefined,
      undoExpiry: () => {},
      closeInbox: bus.openInbox(instanceAddress(clientId, instanceId), (message) => {
        if (message.type !== 'send' || message.message.type !== 'tool_call_request') return;
        box.requests.push(message.message);
        box.wake?.();
      }),
    };
    boxes.set(clientId, box);
    table.add({
      clientId,
      instanceId,
      name: clientId,
      kind: 'program',
      caps: [],
      journalEpoch: null,
      visible: true,
      responsive: true,
      permissions: undefined,
      secureContext: undefined,
      connectedAt: clock.now(),
    });
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
      const box = boxOf(ownId(principal, client_id));
      keepAlive(box);
      const specs = tools.map(toSpec);
      const { registered, rejected } = registry.register(box, specs);
      deps.instances.toolsChanged(box.instanceId);
      return { registered_count: registered, rejected };
    },

    async requests(principal, clientId, waitMs, signal) {
      const box = boxOf(ownId(principal, clientId));
      box.undoExpiry();
      if (box.requests.length === 0) await arrival(box, waitMs, signal);
      keepAlive(box);
      // Nobody listens any more: what came stays for the next one who asks.
      return signal.aborted ? [] : box.requests.splice(0);
    },

    async submit(principal, callId, { status, result, error }) {
      const record = await deps.calls.get(callId);
      if (!record) {
        return { ok: false, code: 'call_not_found', message: `No call ${callId} is known here` };
      }
      const { provider } = record;
      if (
        !provider?.instanceId.startsWith(POLLING_INSTANCE) ||
        ownId(principal, provider.clientId) !== provider.clientId
      ) {
        const message = `The call ${callId} was not given to a client that submits over HTTP as you`;
        return { ok: false, code: 'permission_denied', message };
      }
      const from = {
        clientId: provider.clientId,
        instanceId: provider.instanceId,
        attempt: undefined,
      };
      const reply = await deps.answers.answer(
        from,
        callId,
        status === 'SUCCEEDED'
          ? { ok: true, output: result ?? null, attachments: [] }
          : toFailure(error),
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

const ownId = (principal: Principal, clientId: string): string =>
  principal.kind === 'device' ? principal.clientId : clientId;

/** This interface says `schema` where the socket says `parameters`, and needs no description. */
function toSpec(tool: unknown): unknown {
  if (typeof tool !== 'object' || tool === null) return tool;
  const { schema, ...rest } = tool as Record<string, unknown>;
  const name = 'name' in tool ? String(tool.name) : 'this tool';
  return { description: `The tool ${name}`, parameters: schema, ...rest };
}

function toFailure(error: SubmitBody['error']): ClientAnswer {
  const { code } = { code: undefined, ...error };
  const shown = error?.message || 'The client said that the tool failed, and nothing more';
  return { ok: false, message: shown, ...(code === undefined ? {} : { clientCode: code }) };
}
