import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Card } from '#lib/protocol/card';
import type { ClientListing } from '#lib/protocol/watch-messages';
import { FIRST_OPERATOR } from '../auth/room.ts';
import { readVersion } from '../base/project.ts';
import type { ToolRegistry } from '../tools/room.ts';
import { createCallMetrics } from './call-metrics.ts';
import {
  createDeliveryMetrics,
  createHttpMetrics,
  createSocketMetrics,
  createStoreMetrics,
} from './part-metrics.ts';
import { gauge, type Metric } from './prometheus.ts';

export interface MeasuredServer {
  readonly calls: {
    readonly openCount: number;
    watched(): readonly { readonly card: Pick<Card, 'phase'> }[];
  };
  readonly registry: Pick<ToolRegistry, 'list'>;
  readonly bus: { readonly seq: number };
  readonly gate: { readonly openCount: number };
  readonly hub: { readonly count: number };
  readonly devices: {
    readonly list: { readonly liveCount: number; readonly waitingCount: number };
    readonly pairings: { readonly asking: number };
  };
  readonly table: { listings(): readonly ClientListing[] };
}

function countByKind(clients: readonly ClientListing[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, connected } of clients) {
    if (connected) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

const LAG_PERCENTILES = { p50: 50, p99: 99, max: 100 } as const;

/** What is counted since the start; `reading` gives the body of `/metrics`, with what there is at each moment. */
export function createMetrics() {
  const calls = createCallMetrics();
  const store = createStoreMetrics();
  const deliveries = createDeliveryMetrics();
  const http = createHttpMetrics();
  const sockets = createSocketMetrics();
  return {
    observe: calls.observe,
    committed: store.committed,
    delivered: deliveries.counted,
    answered: http.answered,
    closed: sockets.closed,
    reading: (server: MeasuredServer, more: readonly Metric[]) =>
      createReading(server, [calls, store, deliveries, ...more, http, sockets]),
  };
}

function createReading(server: MeasuredServer, counted: readonly Metric[]): () => string {
  const lag = monitorEventLoopDelay({ resolution: 20 });
  lag.enable();
  const metrics = [
    gauge('callboard_open_calls', 'Calls that are not final', () => server.calls.openCount),
    gauge(
      'callboard_approvals_open',
      'Calls that wait for a decision',
      () => server.calls.watched().filter(({ card }) => card.phase === 'approval').length,
    ),
    gauge('callboard_sockets', 'Open sockets of clients and watchers', () => server.gate.openCount),
    gauge(
      'callboard_clients',
      'Connected clients',
      () => countByKind(server.table.listings()),
      'kind',
    ),
    gauge('callboard_watchers', 'Watchers that are shown calls', () => server.hub.count),
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
      () => new Map([[readVersion(), 1]]),
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
