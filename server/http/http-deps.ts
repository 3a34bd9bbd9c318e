import type { TokenBuckets } from '#lib/limits/token-bucket';
import type { Reach } from '#lib/protocol/reach';
import type { ToolStats } from '#lib/protocol/tool-stats';
import type {
  Audit,
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
import type { ClientStreams, DeviceList, DevicePairing, HttpClients } from '../clients/room.ts';
import type { AgUiService } from '../doors/ag-ui/room.ts';
import type { McpService } from '../doors/mcp/room.ts';
import type { OpenAiService } from '../doors/openai/room.ts';
import type { EventBus, SnapshotText } from '../events/room.ts';
import type { McpServersService } from '../mcp-client/room.ts';
import type { NotifyService, PushService } from '../notices/room.ts';
import type { LivePolicy } from '../policy/room.ts';
import type { RunService } from '../runs/room.ts';
import type { InboundBudget } from '../sockets/room.ts';
import type { History } from '../store/room.ts';
import type { ToolRegistry } from '../tools/room.ts';
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
  /** Counts all calls, or those of one token's holder. */
  readonly toolStats: (ownerToken: string | undefined) => Promise<ToolStats>;
  readonly blobs: BlobStore;
  readonly uploads: TokenBuckets;
  readonly history: Pick<History, 'isBlobOf'>;
  readonly clients: Pick<HttpClients, 'register' | 'requests' | 'submit'>;
  readonly streams: ClientStreams;
  readonly openSockets: OpenSockets;
  readonly bus: Pick<EventBus, 'subscribe'>;
  /** Makes what a watcher of one run is shown first. */
  readonly snapshot: (of: { readonly runId: string }) => Promise<SnapshotText>;
  readonly credentials: Credentials;
  readonly connections: KnownConnections;
  readonly peerOf: PeerOf;
  readonly inbound: InboundBudget;
  readonly sessions: Sessions;
  readonly signInCodes: SignInCodes;
  readonly failedAttempts: FailedAttempts;
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly pairing: DevicePairing;
  readonly devices: DeviceList;
  /** The page that asks is none of ours. */
  readonly isForeignPage: HostGate['isForeignPage'];
  readonly policy: Pick<LivePolicy, 'state' | 'dryRun' | 'setAutonomy'>;
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
  /** Called for each request that was answered, with the pattern of its path and the status. */
  readonly answered: (route: string, status: number) => void;
  /** Prometheus text. */
  readonly metrics: () => string;
  readonly ready: () => Readiness;
  /** Aborted when the server stops: waiting requests end. */
  readonly closing: AbortSignal;
  readonly logger: Logger;
}
