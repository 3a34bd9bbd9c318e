import { openHttp } from './http-calls.ts';
import { openInside } from './inside-calls.ts';
import { KINDS, type Kind, LIMIT_OF, type Way } from './kinds.ts';
import {
  COUNTS,
  type Figures,
  type Goal,
  type InFlight,
  inTurn,
  type Ratio,
  ratio,
} from './stats.ts';

const WAYS = { http: openHttp, inside: openInside };
type WayName = keyof typeof WAYS;

const WARM_UP = 20_000;
/** The figures of a series by how many were in flight. */
type Series = Record<InFlight, Figures>;

/** Each kind is measured against this, and has this goal. */
interface Row {
  readonly way: WayName;
  readonly inFlight: InFlight;
  readonly figure: keyof Figures;
  /** A series of the same way; `own`: the p50 of the kind itself. */
  readonly against: 'raw' | 'Postgres' | 'own' | 'limit';
  readonly goals: Readonly<Record<Kind, Goal>>;
}

const each = (goal: Goal) => ({ 'read-only': goal, plain: goal, claiming: goal });

const ROWS: readonly Row[] = [
  {
    ...{ way: 'http', inFlight: 1, figure: 'p50', against: 'raw' },
    goals: { 'read-only': { atMost: 3 }, plain: { atMost: 4 }, claiming: { atMost: 4.5 } },
  },
  { way: 'http', inFlight: 64, figure: 'p50', against: 'raw', goals: each({ atMost: 2 }) },
  { way: 'http', inFlight: 64, figure: 'perSecond', against: 'raw', goals: each({ atLeast: 0.5 }) },
  {
    ...{ way: 'inside', inFlight: 1, figure: 'p50', against: 'Postgres' },
    goals: { 'read-only': { atMost: 1 }, plain: { atMost: 1.5 }, claiming: { atMost: 1.5 } },
  },
  {
    ...{ way: 'inside', inFlight: 64, figure: 'perSecond', against: 'Postgres' },
    goals: each({ atLeast: 1 }),
  },
  { way: 'http', inFlight: 1, figure: 'p99', against: 'own', goals: each({ atMost: 4 }) },
  { way: 'inside', inFlight: 1, figure: 'p99', against: 'own', goals: each({ atMost: 4 }) },
  // How far from what the disk allows; it has no goal.
  { way: 'http', inFlight: 1, figure: 'p50', against: 'limit', goals: each({}) },
  { way: 'inside', inFlight: 1, figure: 'p50', against: 'limit', goals: each({}) },
  { way: 'inside', inFlight: 64, figure: 'perSecond', against: 'limit', goals: each({}) },
];

/** Durable calls of each kind, over HTTP and inside, beside a relay that keeps nothing, the disk, and Postgres. */
export async function benchCalls(): Promise<{ ratios: Ratio[]; detail: object }> {
  const measured: Record<WayName, Record<string, Series>> = { http: {}, inside: {} };
  for (const name of ['http', 'inside'] as const) {
    const way = await WAYS[name]();
    try {
      measured[name] = await measure(way);
    } finally {
      await way.close();
    }
  }
  const hasPostgres = measured.inside.Postgres !== undefined;
  if (!hasPostgres) console.log('No Postgres is installed here: its rows are left out.');
  const rows = ROWS.filter(({ against }) => hasPostgres || against !== 'Postgres');
  return {
    ratios: rows.flatMap((row) => KINDS.map((kind) => toRatio(row, kind, measured[row.way]))),
    detail: measured,
  };
}

async function measure({ runs }: Way): Promise<Record<string, Series>> {
  for (const kind of KINDS) await runs[kind]?.(Math.ceil(WARM_UP / KINDS.length), 64);
  for (const run of Object.values(runs)) await run(COUNTS[1], 64);
  return inTurn(runs);
}

function toRatio(
  { way, inFlight, figure, against, goals }: Row,
  kind: Kind,
  series: Readonly<Record<string, Series>>,
): Ratio {
  const other = against === 'own' ? kind : against === 'limit' ? LIMIT_OF[kind] : against;
  const ours = series[kind]?.[inFlight][figure] ?? Number.NaN;
  const theirs = series[other]?.[inFlight][against === 'own' ? 'p50' : figure] ?? Number.NaN;
  const what = `${way}, ${kind}, ${inFlight} in flight: ${figure} beside ${against === 'own' ? 'its p50' : other}`;
  return ratio(what, figure === 'perSecond' ? 'calls/s' : 'ms', ours, theirs, goals[kind]);
}
