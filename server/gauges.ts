/** Name, what it counts, and how many there are now. */
export type Gauge = readonly [name: string, help: string, value: number];

/** Gauges in the text format of Prometheus. */
export const toPrometheus = (gauges: readonly Gauge[]): string =>
  gauges
    .map(
      ([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`,
    )
    .join('');
