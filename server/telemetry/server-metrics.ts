import { monitorEventLoopDelay } from 'node:perf_hooks';
import { FIRST_OPERATOR } from '../auth/room.ts';
import type { ToolRegistry } from '../tools/room.ts';
import { gauge, type Metric } from './prometheus.ts';

export interface MeasuredServer {
  readonly calls: { readonly openCount: number };
  readonly registry: Pick<ToolRegistry, 'list'>;
  readonly bus: { readonly seq: number };
  readonly sockets: () => number;
  readonly watchers: () => number;
  readonly devices: {
    readonly list: { readonly liveCount: number; readonly waitingCount: number };
    readonly pairings: { readonly asking: number };
  };
  /** By kind. */
  readonly clients: () => ReadonlyMap<string, number>;
  readonly approvalsOpen: () => number;
  readonly version: string;
}

/** Of clients that are connected. */
export function countByKind(
  clients: readonly { readonly kind: string; readonly connected: boolean }[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, connected } of clients) {
    if (connected) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

const LAG_PERCENTILES = { p50: 50, p99: 99, max: 100 } as const;

/** What there is now, beside what was counted since the start; a function that gives the body of `/metrics`. */
export function createServerMetrics(
  server: MeasuredServer,
  counted: readonly Metric[],
): () => string {
  const lag = monitorEventLoopDelay({ resolution: 20 });
  lag.enable();
  const metrics = [
    gauge('callboard_open_calls', 'Calls that are not final', () => server.calls.openCount),
    gauge('callboard_approvals_open', 'Calls that wait for a decision', server.approvalsOpen),
    gauge('callboard_sockets', 'Open sockets of clients and watchers', server.sockets),
    gauge('callboard_clients', 'Connected clients', server.clients, 'kind'),
    gauge('callboard_watchers', 'Watchers that are shown calls', server.watchers),
    gauge(
      'callboard_tools',
      'Tools that are offered now',
      () => server.registry.list(FIRST_OPERATOR).length,
    ),
    gauge('callboard_devices', 'Devices that may connect', () => server.devices.list.liveCount),
    gauge(
      'callboard_devices_waiting',
      'Devices with tools that wait for a person',
      () => server.devices.list.waitingCount,
    ),
    gauge(
      'callboard_pairings_asking',
      'Devices that ask to be let in',
      () => server.devices.pairings.asking,
    ),
    gauge('callboard_events', 'Number of the newest event', () => server.bus.seq),
    gauge(
      'callboard_event_loop_lag_seconds',
      'Delay of the event loop since the last reading, by its middle, 99th percentile and maximum',
      () => readLag(lag),
      'value',
    ),
    gauge(
      'callboard_build_info',
      'The version that runs',
      () => new Map([[server.version, 1]]),
      'version',
    ),
    gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss()),
    ...counted,
  ];
  return () => metrics.map((metric) => metric.text()).join('');
}

function readLag(lag: ReturnType<typeof monitorEventLoopDelay>): ReadonlyMap<string, number> {
  const read = Object.entries(LAG_PERCENTILES).map(
    ([value, percent]) => [value, lag.percentile(percent) / 1e9] as const,
  );
  lag.reset();
  return new Map(read);
}
