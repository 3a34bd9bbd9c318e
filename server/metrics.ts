import { FIRST_OPERATOR } from './auth/principal.ts';
import type { ToolRegistry } from './tools/tool-registry.ts';

/** Name, what it counts, and how many there are now. */
type Metric = readonly [name: string, help: string, value: number];

/** Gauges in the text format of Prometheus. */
const toPrometheus = (metrics: readonly Metric[]): string =>
  metrics
    .map(
      ([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`,
    )
    .join('');

/** The body of `/metrics`. */
export const serverMetrics = (server: {
  readonly calls: { readonly openCount: number };
  readonly registry: Pick<ToolRegistry, 'list'>;
  readonly bus: { readonly seq: number };
  readonly sockets: number;
  readonly watchers: number;
  readonly devices: {
    readonly list: { readonly liveCount: number; readonly waitingCount: number };
    readonly pairings: { readonly asking: number };
  };
}): string =>
  toPrometheus([
    ['callboard_open_calls', 'Calls that are not final', server.calls.openCount],
    ['callboard_sockets', 'Open sockets of clients and watchers', server.sockets],
    ['callboard_watchers', 'Watchers that are shown calls', server.watchers],
    ['callboard_tools', 'Tools that are offered now', server.registry.list(FIRST_OPERATOR).length],
    ['callboard_devices', 'Devices that may connect', server.devices.list.liveCount],
    [
      'callboard_devices_waiting',
      'Devices with tools that wait for a person',
      server.devices.list.waitingCount,
    ],
    ['callboard_pairings_asking', 'Devices that ask to be let in', server.devices.pairings.asking],
    ['callboard_events', 'Number of the newest event', server.bus.seq],
    ['process_resident_memory_bytes', 'Resident memory', process.memoryUsage.rss()],
  ]);
