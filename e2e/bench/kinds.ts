/** The tools that are measured: each echoes, and differs in what must be on disk before what. */
export const KINDS = ['read-only', 'plain', 'claiming'] as const;
export type Kind = (typeof KINDS)[number];

/** The baselines depend on the machine alone: a relay that keeps no record, with so many waits for the disk. */
export const BASELINES = ['raw', 'raw, 1 fsync', 'raw, 2 fsyncs'] as const;
export type Baseline = (typeof BASELINES)[number];

export const BARRIERS: Record<Baseline, 0 | 1 | 2> = {
  raw: 0,
  'raw, 1 fsync': 1,
  'raw, 2 fsyncs': 2,
};

/** How often a call of the kind waits for the disk at least: the limit for it. */
export const LIMIT_OF: Record<Kind, Baseline> = {
  'read-only': 'raw, 1 fsync',
  plain: 'raw, 2 fsyncs',
  claiming: 'raw, 2 fsyncs',
};

export const TOOL_OF: Record<Kind, string> = {
  'read-only': 'echo_read',
  plain: 'echo',
  claiming: 'echo_claim',
};

export const ARGS = { n: 1, text: 'x'.repeat(100) };

/** One measured series of calls. */
export interface Calls {
  readonly times: number[];
  readonly perSecond: number;
}

/** So many calls, so many of them in flight. */
export type Run = (count: number, inFlight: number) => Promise<Calls>;

/** A way to the tools, with all that is measured beside each other on it. */
export interface Way {
  readonly runs: Readonly<Record<string, Run>>;
  close(): Promise<void>;
}
