import type { ServerResponse } from 'node:http';
import type { TokenBuckets } from '#lib/limits/token-bucket';
import type { CallStatus } from '#lib/protocol/call-status';
import type { Reach } from '#lib/protocol/reach';
import type { SubmitBody } from '#lib/protocol/rest';
import type { ServerMessageOf } from '#lib/protocol/server-messages';
import type { ToolStats } from '#lib/protocol/tool-stats';
import type {
  Audit,
  Caller,
  Callers,
  Credentials,
  FailedAttempts,
  HostGate,
  PeerOf,
  Sessions,
  SignInCodes,
  Tokens,
} from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { BlobStore } from '../blobs/room.ts';
import type { CallService } from '../calls/room.ts';
import type { DeviceService, PairingService } from '../devices/room.ts';
import type { AgUiService } from '../doors/ag-ui/room.ts';
import type { McpService } from '../doors/mcp/room.ts';
import type { OpenAiService } from '../doors/openai/room.ts';
import type { EventBus, SnapshotText } from '../events/room.ts';
import type { McpServersService } from '../mcp-client/room.ts';
import type { NotifyService, PushService } from '../notices/room.ts';
import type { PolicyService } from '../policy/room.ts';
import type { RunService } from '../runs/room.ts';
import type { InboundBudget } from '../sockets/room.ts';
import type { History } from '../store/room.ts';
import type { Registration, ToolRegistry } from '../tools/room.ts';
import type { KnownConnections } from './known-connections.ts';
import type { OpenSockets } from './open-sockets.ts';

export type Readiness =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: 'shutting_down' | 'store_failed';
      readonly message: string;
    };

/** Everything that the HTTP API needs from other parts. */
export interface HttpDeps {
  readonly calls: CallService;
  readonly runs: RunService;
  readonly tools: Pick<ToolRegistry, 'list' | 'nameOf'>;
  /** Of all calls, or of those of one token's holder. */
  readonly toolStats: (ownerToken: string | undefined) => Promise<ToolStats>;
  readonly blobs: BlobStore;
  readonly uploads: TokenBuckets;
  readonly history: Pick<History, 'isBlobOf'>;
  readonly clients: HttpClientService;
  readonly streams: ClientStreamService;
  readonly openSockets: OpenSockets;
  readonly bus: Pick<EventBus, 'subscribe'>;
  /** What a watcher of one run is shown first. */
  readonly snapshot: (of: { readonly runId: string }) => Promise<SnapshotText>;
  readonly credentials: Credentials;
  readonly connections: Pick<KnownConnections, 'keep'>;
  readonly peerOf: PeerOf;
  readonly inbound: InboundBudget;
  readonly sessions: Sessions;
  readonly signInCodes: SignInCodes;
  readonly failedAttempts: FailedAttempts;
  readonly callers: Callers;
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly pairing: PairingService;
  readonly devices: DeviceService;
  /** Whether the page that asks is none of ours. */
  readonly isForeignPage: HostGate['isForeignPage'];
  readonly policy: PolicyService;
  readonly notify: NotifyService;
  /** Closes every connection of a client; resolves with how many there were. */
  readonly disconnect: (clientId: string) => Promise<number>;
  readonly mcp: McpService;
  readonly agUi: AgUiService;
  readonly mcpServers: McpServersService;
  readonly push: PushService;
  /** Undefined: the configuration has not turned it on. */
  readonly openAi?: OpenAiService | undefined;
  readonly clock: Clock;
  /** Under which addresses this server is reached now. */
  readonly reach: () => Reach;
  /** Of each request that was answered: the pattern of its path, and the status. */
  readonly answered: (route: string, status: number) => void;
  /** Prometheus text. */
  readonly metrics: () => string;
  readonly ready: () => Readiness;
  /** Aborted when the server stops: waiting requests end. */
  readonly closing: AbortSignal;
  readonly logger: Logger;
}

export type SubmitOutcome =
  | { readonly ok: true; readonly status: CallStatus }
  | {
      readonly ok: false;
      readonly code:
        | 'call_not_found'
        | 'already_final'
        | 'permission_denied'
        | 'conflict'
        | 'bad_request';
      readonly message: string;
    };

/** The id is a client's on a socket, or was first used by another principal. */
interface ClientIdConflict {
  readonly ok: false;
  readonly code: 'conflict';
  readonly message: string;
}

/**
 * Clients that poll over HTTP instead of holding a socket (contract, section
 * 7). The HTTP layer has checked the credential and the body's shape, and that
 * a device speaks for its own client id; whether a call may be answered by this
 * client is decided here.
 */
export interface HttpClientService {
  /** `tools` as they came: each is checked by itself. */
  register(
    principal: Caller,
    body: { readonly client_id: string; readonly tools: readonly unknown[] },
  ): Promise<
    | ({ readonly ok: true; readonly registered_count: number } & Omit<Registration, 'registered'>)
    | ClientIdConflict
  >;
  /** Resolves with at least one request, or with none after `waitMs` or when `signal` aborts. */
  requests(
    principal: Caller,
    clientId: string,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<
    | { readonly ok: true; readonly requests: ServerMessageOf<'tool_call_request'>[] }
    | ClientIdConflict
  >;
  submit(principal: Caller, callId: string, body: SubmitBody): Promise<SubmitOutcome>;
}

export type TakeOutcome =
  | { readonly ok: true; readonly seq: number }
  | {
      readonly ok: false;
      readonly code: 'bad_request' | 'conflict' | 'not_found';
      readonly message: string;
    };

/** One client's stream, to which its requests belong. */
export interface ClientStream {
  /** What a client sends, in order; resolves when it is handled. Sent again, it is not handled again. */
  take(text: string): Promise<TakeOutcome>;
  /** Bytes of a request come in. */
  arriving(): void;
  close(code: number, reason: string): void;
}

/**
 * Clients whose messages come as Server-Sent Events and go by requests, where a socket cannot be
 * opened. The HTTP layer has checked the credential.
 */
export interface ClientStreamService {
  /** Takes the response over until it closes. */
  open(principal: Caller, outgoing: ServerResponse): ClientStream;
  /** Undefined as well for one of another principal. */
  find(principal: Caller, id: string): ClientStream | undefined;
}
