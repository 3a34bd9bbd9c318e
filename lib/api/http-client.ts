import type { AskingClient } from '#lib/protocol/asking-client';
import { given } from '#lib/util/given';
import type { AlwaysScope, BoundArgument, BoundArguments } from '../protocol/always.ts';
import type { ListedCall, WireCallRecord } from '../protocol/call-record.ts';
import type { ModelOutputRecord } from '../protocol/model-turn.ts';
import type { InvokeAccepted } from '../protocol/rest.ts';
import type { ModelListing, NewSettings, RunRecord, RunSummary } from '../protocol/run.ts';
import type { WireMe } from '../protocol/token.ts';
import type { ToolListing } from '../protocol/tool-spec.ts';
import type { ApiResult } from './api-result.ts';
import {
  type ApiDeps,
  type ApiRequest,
  type OnReceived,
  pathOf,
  queryOf,
  sendRequest,
} from './send-request.ts';

interface InvokeInput {
  readonly tool: string;
  readonly runId: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly client?: string;
  readonly timeoutMs?: number;
}

export interface ApprovalInput {
  readonly decision: 'yes' | 'no' | 'always';
  readonly note?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** The deadline of the question that was answered, so that the yes is to no newer one. */
  readonly expires_at?: number;
  /** It was shown to be of so many equal calls. */
  readonly calls?: number;
  /** An `always` reaches so far, for so many seconds. */
  readonly scope?: AlwaysScope;
  readonly expires_in?: number;
  /** An `always` is bound to these arguments, and is for so many calls. */
  readonly bound?: BoundArgument[];
  readonly other_arguments?: BoundArguments['other_arguments'];
  readonly uses?: number;
}

/** The HTTP API of the server (contract, sections 6 and 9), failures as values. */
export function createApi(
  deps: ApiDeps & {
    /** This tab as a client, once it can be asked: what a person asks for here is asked of it first. */
    readonly askingClient?: () => Promise<AskingClient | null>;
    /** The server says of a call that it deleted it. */
    readonly onCallDeleted?: (callId: string) => void;
  },
) {
  const send = <T>(request: ApiRequest) => sendRequest<T>(deps, request);
  const get = <T>(path: string, onReceived?: OnReceived, signal?: AbortSignal) =>
    send<T>({ method: 'GET', path, ...given({ onReceived, signal }) });
  const post = <T>(path: string, body: object = {}) => send<T>({ method: 'POST', path, body });
  /** Says who asks. */
  const ask = async <T>(path: string, body: object) => {
    const { clientId: client_id, instanceId: instance_id } = (await deps.askingClient?.()) ?? {};
    return post<T>(path, { ...body, ...given({ client_id, instance_id }) });
  };
  /** The answer to what is asked about one call. */
  const onCall = async <T>(callId: string, request: Promise<ApiResult<T>>) => {
    const answer = await request;
    if (!answer.ok && answer.code === 'call_deleted') deps.onCallDeleted?.(callId);
    return answer;
  };
  return {
    invoke: ({ tool, runId, args, client, timeoutMs }: InvokeInput) =>
      ask<InvokeAccepted>(pathOf`/v1/tools/${tool}/invoke`, {
        run_id: runId,
        args,
        ...given({ client, timeout_ms: timeoutMs }),
      }),
    /** A record may have megabytes: `onReceived` follows how much of it has come, `signal` ends it. */
    getCall: (id: string, onReceived?: OnReceived, signal?: AbortSignal) =>
      onCall(id, get<WireCallRecord>(pathOf`/v1/tool_calls/${id}`, onReceived, signal)),
    /** Gets what a model is sent of a call, and which requests had it. */
    getModelOutput: (id: string) =>
      onCall(id, get<ModelOutputRecord>(pathOf`/v1/tool_calls/${id}/model_output`)),
    /** A page of a run's calls, newest first; large values by their beginning. */
    listCalls: ({ runId, cursor }: { runId: string; cursor?: string }) => {
      const path = `/v1/tool_calls${queryOf({ run_id: runId, limit: CALLS_PER_PAGE, cursor })}`;
      return get<{ tool_calls: ListedCall[]; next_cursor: string | null }>(path);
    },
    cancelCall: (id: string) =>
      onCall(id, post<WireCallRecord>(pathOf`/v1/tool_calls/${id}/cancel`)),
    /** The new call's record. */
    retryCall: (
      id: string,
      { clientId: client }: { readonly clientId?: string | undefined } = {},
    ) => onCall(id, ask<WireCallRecord>(pathOf`/v1/tool_calls/${id}/retry`, given({ client }))),
    decideApproval: (id: string, input: ApprovalInput) =>
      onCall(id, post<WireCallRecord>(pathOf`/v1/tool_calls/${id}/approval`, input)),
    extendCall: (id: string, byMs: number) =>
      onCall(id, post<WireCallRecord>(pathOf`/v1/tool_calls/${id}/extend`, { by_ms: byMs })),
    startRun: (input: { input: string; model?: string } & NewSettings) =>
      ask<RunRecord>('/v1/runs', input),
    sendMessage: (
      runId: string,
      input: { input?: string; model?: string; replaces?: string } & NewSettings,
    ) => ask<RunRecord>(pathOf`/v1/runs/${runId}/messages`, input),
    cancelRun: (runId: string) => post<RunRecord>(pathOf`/v1/runs/${runId}/cancel`),
    getRun: (runId: string) => get<RunRecord>(pathOf`/v1/runs/${runId}`),
    listRuns: (cursor?: string) =>
      get<{ runs: RunSummary[]; next_cursor: string | null }>(`/v1/runs${queryOf({ cursor })}`),
    /** One request as it is, for what a page of its own asks. */
    request: send,
    /** Asks who is signed in. */
    getMe: () => get<WireMe>('/v1/me'),
    /** All, or those of one name. */
    listTools: (name?: string) => get<{ tools: ToolListing[] }>(`/api/tools${queryOf({ name })}`),
    listModels: () => get<{ models: ModelListing[] }>('/v1/models'),
    /** Asks whether the server takes work; the failure's code is the reason why not. */
    isReady: () => get('/readyz'),
    signOut: () => post('/auth/sign-out'),
    /** Where its bytes are, for who sends the session's key. */
    blobUrl: (blobId: string) => deps.baseUrl + pathOf`/v1/blobs/${blobId}`,
  };
}

export type Api = ReturnType<typeof createApi>;

/** A page of a run's calls fills a screen several times. */
const CALLS_PER_PAGE = 100;
