import type { Call, CallFields } from '#lib/call/call';
import type { InvokeOutcome } from '#lib/call/call-outcome';
import { MODEL_OUTPUT_BYTES } from '#lib/call/model-output';
import { sampleCall } from '#lib/call/testing/sample-call';
import type { Attachment } from '#lib/protocol/attachment';
import { HttpError } from '#lib/protocol/http-error';
import type { RunRecord } from '#lib/protocol/run';
import type { RunTool } from '#lib/protocol/run-tools';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { run } from '#lib/stores/testing/fixtures';
import type { BlobStore, BlobUpload } from '../../blobs/disk-blob-store.ts';
import type { CallService, InvokeRequest } from '../../calls/call-service.ts';
import type { AgUiService } from '../../doors/ag-ui/create-ag-ui-service.ts';
import type { McpService } from '../../doors/mcp/create-mcp-service.ts';
import type { LoggedEvent } from '../../events/event-bus.ts';
import type { McpServersService } from '../../mcp-client/mcp-servers.ts';
import type { NotifyService } from '../../notices/outbox.ts';
import type { PushService } from '../../notices/push/open-push.ts';
import type { RunService } from '../../runs/agent-runs.ts';
import type { Store } from '../../store/sqlite-store.ts';
import type { SessionRecord } from '../../store/store.ts';
import type { HttpDeps } from '../http-deps.ts';

/** A call that has just been recorded, but for what is given. */
export const callRecord = (more: CallFields = {}): Call =>
  sampleCall({
    ...{ runId: 'run_a', toolName: 'echo', args: {} },
    ...{ createdAt: 1_500, queuedAt: 1_500 },
    card: { status: 'WAIT', params: {} },
    ...more,
  });

export const done = (more: CallFields = {}): Call =>
  callRecord({ status: 'SUCCEEDED', phase: null, result: { n: 1 }, completedAt: 2_250, ...more });

const unused = (): never => {
  throw new Error('this fake does not do that');
};

/** Calls that are what a test put there. What is asked of it is kept in `asked`. */
export function createFakeCalls() {
  const records = new Map<string, Call>();
  const asked: { what: string; args: readonly unknown[] }[] = [];
  const note = (what: string, ...args: unknown[]) => void asked.push({ what, args });
  const fake = {
    records,
    asked,
    /** What the next `invoke` answers. */
    outcome: undefined as InvokeOutcome | undefined,
    onInvoke: (_request: InvokeRequest): void => {},
    onList: (): void => {},
    onWait: async (id: string, _signal?: AbortSignal) => records.get(id),
  };
  const act =
    (what: string) =>
    async (id: string, ...args: unknown[]) => {
      note(what, id, ...args);
      const call = records.get(id);
      if (!call) return { ok: false, code: 'call_not_found', message: 'no such call' } as const;
      if (call.completedAt !== undefined) {
        return { ok: false, code: 'already_final', message: 'it has ended' } as const;
      }
      return { ok: true, call } as const;
    };
  const service: CallService = {
    async invoke(request) {
      note('invoke', request);
      fake.onInvoke(request);
      if (fake.outcome) return fake.outcome;
      const call = callRecord({ toolName: request.tool, runId: request.runId });
      if (!records.has(call.id)) records.set(call.id, call);
      request.together?.(call);
      return { ok: true, call };
    },
    async wait(id, waitMs, signal) {
      note('wait', id, waitMs);
      return fake.onWait(id, signal);
    },
    events: unused,
    async list(query) {
      note('list', query);
      fake.onList();
      const calls = [...records.values()].filter((call) => query.takes?.(call) !== false);
      return { calls, nextCursor: 'more' };
    },
    follow: () => () => {},
    get: async (id) => records.get(id),
    storedBytes: async (id) => JSON.stringify(records.get(id)?.result ?? null).length,
    wasDeleted: (id) => id.startsWith('tc_old'),
    cancel: act('cancel'),
    retry: act('retry'),
    decide: act('decide'),
    answer: act('answer'),
    extend: act('extend'),
    draft: unused,
    always: { list: unused, withdraw: unused },
    watched: () => [...records.values()],
    endedOf: async () => [],
  };
  return { fake, service };
}

const runRecord: RunRecord = { ...run('run_a', { title: 'A run' }), messages: [] };

const runTools = ['a', 'b', 'c', 'd'].map(
  (name): RunTool => ({
    ...{ name, source: 'server', pinned: false, found: false },
    offer: name === 'c' ? 'over_limit' : 'offered',
  }),
);

export const fakeRuns: RunService = {
  start: async () => ({ ok: true, run: runRecord }),
  send: async (id) => ({
    ok: false,
    code: id === 'run_a' ? 'conflict' : 'run_not_found',
    message: 'not now',
  }),
  cancel: async () => ({ ok: true, run: runRecord }),
  get: async (id) => (id === 'run_a' ? runRecord : undefined),
  messagesBefore: async () => ({ messages: [] }),
  list: async () => ({ runs: [runRecord], nextCursor: null }),
  resultBytes: MODEL_OUTPUT_BYTES,
  tools: async (id) => (id === 'run_a' ? runTools : undefined),
  modelTurns: async () => undefined,
  models: async () => [],
  watched: async () => [runRecord],
};

const listing = (name: string, callable: boolean): ToolListing => ({
  name,
  model_name: name,
  source: 'client',
  description: name,
  schema: { type: 'object' },
  timeout_ms: 30_000,
  clients: [],
  callable,
});

export const fakeTools = {
  list: () => [listing('echo', true), listing('absent', false)],
  nameOf: (reference: string) => (/^echo$/i.test(reference) ? 'echo' : reference),
};

export function createFakeClients() {
  const asked: unknown[][] = [];
  const service: HttpDeps['clients'] = {
    async register(_principal, body) {
      asked.push(['register', body]);
      return { registered_count: body.tools.length, rejected: [] };
    },
    async requests(_principal, clientId, waitMs) {
      asked.push(['requests', clientId, waitMs]);
      return [];
    },
    async submit(_principal, id, body) {
      asked.push(['submit', id, body]);
      if (id === 'tc_final') throw new HttpError('already_final', 'it has ended');
      return body.status;
    },
  };
  return { asked, service };
}

/** No server is configured. */
export const fakeMcpServers: McpServersService = {
  list: () => [],
  reconnect: unused,
  accept: unused,
};

/** Its own tests run it whole. */
export const fakeMcp: McpService = {
  isSession: (_agent, sessionId) => sessionId === 'session_1',
  endSession: () => {},
  answer: async ({ body }) => Response.json({ jsonrpc: '2.0', id: 1, result: body }),
  openStream: () => () => {},
  close: async () => {},
};

/** Its own tests run it whole. */
export const fakeAgUi: AgUiService = {
  open: async () => (sink) => {
    sink.send({ type: 'RUN_ERROR', code: 'internal', message: 'no agent here' });
    sink.end();
    return () => {};
  },
};

/** Nothing is sent anywhere. */
export const fakeNotify: NotifyService = {
  limits: { open_per_target: 1, attempts: 1, kept_days: 1, kept: 1 },
  targets: () => [],
  deliveries: async () => ({ deliveries: [], next: null }),
  resend: async () => undefined,
  test: async () => undefined,
  enable: async () => false,
};

/** Its own tests run it whole. */
export const fakePush: PushService = {
  state: () => ({ enabled: true, public_key: 'key', hosts: [], subscriptions: [] }),
  subscribe: unused,
  unsubscribe: async () => {},
  test: unused,
};

/** No stream is open. */
export const fakeStreams: HttpDeps['streams'] = { open: unused, find: () => undefined };

export function createFakeBlobs(): BlobStore {
  const kept = new Map<string, { attachment: Attachment; bytes: Uint8Array }>();
  return {
    async put(upload: BlobUpload) {
      if (upload.bytes.length === 0) return { ok: false, code: 'empty', message: 'no bytes' };
      const blob_id = `blob_${String(kept.size).padStart(40, '0')}`;
      const { mediaType: media_type, bytes, name } = upload;
      const attachment = { blob_id, media_type, size: bytes.length, ...(name ? { name } : {}) };
      kept.set(blob_id, { attachment, bytes });
      return { ok: true, attachment };
    },
    find: async (id) => kept.get(id)?.attachment,
    read: async (id) => kept.get(id),
  };
}

/** A bus whose log reaches back to `oldest`. */
export function createFakeBus(oldest = 0) {
  const log: LoggedEvent[] = [];
  const subscribers = new Set<(events: readonly LoggedEvent[]) => void>();
  return {
    subscribers,
    publish(event: WatchEvent) {
      const logged = { event, json: JSON.stringify(event) };
      log.push(logged);
      for (const notify of subscribers) notify([logged]);
    },
    subscribe({
      since,
      onEvents,
    }: {
      since?: number;
      onEvents(events: readonly LoggedEvent[]): void;
    }) {
      const complete = since === undefined || since >= oldest;
      if (since !== undefined && complete) onEvents(log.filter(({ event }) => event.seq > since));
      subscribers.add(onEvents);
      return { complete, close: () => void subscribers.delete(onEvents) };
    },
  };
}

export function createFakeSessionStore(): Pick<
  Store,
  'write' | 'findSession' | 'listTokens' | 'listKept'
> {
  const sessions = new Map<string, SessionRecord>();
  return {
    async write(changes) {
      for (const change of changes) {
        if (change.type === 'delete_session') sessions.delete(change.idHash);
        if (change.type === 'delete_sessions_of') {
          for (const { idHash, tokenId } of sessions.values()) {
            if (tokenId === change.tokenId) sessions.delete(idHash);
          }
        }
        if (change.type === 'put_session' || change.type === 'renew_session') {
          sessions.set(change.session.idHash, change.session);
        }
      }
    },
    listTokens: async () => [],
    listKept: async () => [],
    findSession: async (cookieHash) =>
      [...sessions.values()].find(({ idHash }) => idHash.startsWith(`${cookieHash}:`)),
  };
}
