/** Name, what it counts, and how many there are now. */
type Metric = readonly [name: string, help: string, value: number];

/** Gauges in the text format of Prometheus. */
const toPrometheus = (metrics: readonly Metric[]): string =>
  metrics
    .map(
      ([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`,
    )
    .join('');

/** What `/metrics` says of a server. */
export const serverMetrics = (facts: {
  readonly openCalls: number;
  readonly sockets: number;
  readonly watchers: number;
  readonly tools: number;
  readonly seq: number;
}): string =>
  toPrometheus([
    ['callboard_open_calls', 'Calls that are not final', facts.openCalls],
    ['callboard_sockets', 'Open sockets of clients and watchers', facts.sockets],
    ['callboard_watchers', 'Watchers that are shown calls', facts.watchers],
    ['callboard_tools', 'Tools that are offered now', facts.tools],
    ['callboard_events', 'Number of the newest event', facts.seq],
    ['process_resident_memory_bytes', 'Resident memory', process.memoryUsage.rss()],
  ]);
