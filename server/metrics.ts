/** Name, what it counts, and how many there are now. */
export type Metric = readonly [name: string, help: string, value: number];

/** Gauges in the text format of Prometheus. */
export const toPrometheus = (metrics: readonly Metric[]): string =>
  metrics
    .map(
      ([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`,
    )
    .join('');
