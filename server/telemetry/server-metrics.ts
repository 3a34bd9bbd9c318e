import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Call } from '#lib/call/call';
import type { Card } from '#lib/protocol/card';
import type { ClientListing } from '#lib/protocol/watch-messages';
import { FIRST_OPERATOR } from '../auth/room.ts';
import { readVersion } from '../base/project.ts';
import type { ToolRegistry } from '../tools/room.ts';
import { hasEnded, partsOf } from './call-parts.ts';
import { boundedLabel, counter, gauge, histogram, type Metric } from './prometheus.ts';

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

/** Names of tools, and kinds of providers, that have a row of their own. */
const MOST_TOOLS = 200;
const MOST_SOURCES = 20;
/** Peers choose the codes of closed sockets, within those that WebSocket has. */
const MOST_CODES = 30;
/** A disk takes less than the other waits. */
const COMMIT_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** Counts from the start on (rules TM1 to TM5, TM19 to TM21). */
export function createMetrics() {
  const toolOf = boundedLabel(MOST_TOOLS);
  const sourceOf = boundedLabel(MOST_SOURCES);
  const codeOf = boundedLabel(MOST_CODES);
  const ended = counter('callboard_tool_calls_total', 'Calls that ended, by outcome', [
    'tool',
    'source',
    'outcome',
  ]);
  const duration = histogram(
    'callboard_tool_call_duration_seconds',
    'From the request to the end',
    'source',
  );
  const phases = histogram('callboard_tool_call_phase_seconds', 'Of ended calls, by part', 'phase');
  const approvals = counter('callboard_approvals_total', 'Decisions about calls', ['decision']);
  const commits = histogram(
    'callboard_store_commit_seconds',
    'Of groups of changes',
    '',
    COMMIT_SECONDS,
  );
  const deliveries = counter(
    'callboard_notify_deliveries_total',
    'Attempts to send notices, and deliveries that ended without one',
    ['target', 'outcome'],
  );
  const requests = counter('callboard_http_requests_total', 'Requests that were answered', [
    'route',
    'status',
  ]);
  const closes = counter('callboard_socket_closes_total', 'Sockets that closed, by code', ['code']);
  const counted = [ended, duration, phases, approvals, commits, deliveries, requests, closes];
  return {
    counted,
    /** Takes each state of a call that is on disk, and the one before. */
    observe(call: Call, previous: Call | undefined) {
      const decision = decisionOf(call, previous);
      if (decision !== undefined) approvals.add(decision);
      if (!hasEnded(call, previous)) return;
      const source = sourceOf(call.source);
      ended.add(toolOf(call.toolName), source, call.error?.code ?? 'ok');
      const end = call.completedAt ?? call.createdAt;
      duration.observe(source, seconds(call.createdAt, end));
      for (const [phase, from, to] of partsOf(call, end)) phases.observe(phase, seconds(from, to));
    },
    committed: (took: number) => commits.observe('', took),
    /** The targets of the configuration are few; subscriptions of people are many, and one target. */
    delivered: (target: string, outcome: string) =>
      deliveries.add(target.startsWith('push:') ? 'push' : target, outcome),
    /** `route` is a pattern such as `/v1/runs/:id`, of which there are as many as routes. */
    answered: (route: string, status: number) => requests.add(route, String(status)),
    closed: (code: number) => closes.add(codeOf(String(code))),
    /** Gives what makes the body of `/metrics`, with what there is at each moment. */
    reading: (server: MeasuredServer, more: readonly Metric[]) =>
      createReading(server, [...counted, ...more]),
  };
}

/** Wall times: a clock that was set back gives nothing below zero. */
const seconds = (from: number, to: number): number => Math.max(0, to - from) / 1_000;

function decisionOf(call: Call, previous: Call | undefined): string | undefined {
  const { approval_decision: decided } = call.card;
  if (decided && previous?.card.approval_decision === undefined) return decided.decision;
  const isNew = previous?.error === undefined;
  return isNew && call.error?.code === 'approval_expired' ? 'expired' : undefined;
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
