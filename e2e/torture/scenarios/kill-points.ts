import { first, type Patch } from '../patch.ts';

/** Moments in the life of a call, in the order in which it meets them; `// fault point: <name>` in the sources. */
export const KILL_POINTS: readonly string[] = [
  'decided',
  'in-transaction',
  'committed',
  'written',
  'published',
  'before-offer',
  'offered',
  'claim-came',
  'grant-ready',
  'result-came',
  'result-written',
  'reply-sent',
];

/** Kills its own process on the nth pass, for a server that is started with `KILL_AT=<point>:<n>`. */
const killAt = (name: string): string =>
  `{ const [at, n] = (process.env.KILL_AT ?? '').split(':'); if (at === '${name}') { const g = globalThis; g.passes = (g.passes ?? 0) + 1; if (g.passes >= Number(n)) process.kill(process.pid, 'SIGKILL'); } }`;

/** One build with all of the points. */
export const killPointPatches = (): Patch[] => KILL_POINTS.map((name) => first(name, killAt(name)));
