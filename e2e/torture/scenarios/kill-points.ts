import type { Patch } from '../build-variant.ts';

/** A moment in the life of a call, and where in the sources it is. */
interface KillPoint {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly where: 'before' | 'after';
}

const ENGINE = 'server/calls/engine.ts';
const EFFECTS = 'server/calls/effect-runner.ts';
const CLIENT_CALLS = 'server/calls/client-calls.ts';
const SESSION = 'server/connections/client-session.ts';
const WORKER = 'server/store/write-worker.ts';
const COMMIT = "database.exec('COMMIT');";

/** A place that is marked in the sources by a comment of its own. */
const marked = (name: string, file: string): KillPoint => ({
  name,
  file,
  find: `// fault point: ${name}\n`,
  where: 'after',
});

/** In the order in which a call meets them. */
const POINTS: readonly KillPoint[] = [
  marked('decided', ENGINE),
  { name: 'in-transaction', file: WORKER, find: COMMIT, where: 'before' },
  { name: 'committed', file: WORKER, find: COMMIT, where: 'after' },
  marked('written', ENGINE),
  marked('published', ENGINE),
  marked('before-offer', EFFECTS),
  marked('offered', EFFECTS),
  marked('claim-came', CLIENT_CALLS),
  marked('grant-ready', CLIENT_CALLS),
  marked('result-came', CLIENT_CALLS),
  marked('result-written', CLIENT_CALLS),
  marked('reply-sent', SESSION),
];

export const KILL_POINTS: readonly string[] = POINTS.map(({ name }) => name);

/** Kills its own process on the nth pass, for a server that is started with `KILL_AT=<point>:<n>`. */
const killAt = (name: string): string =>
  `{ const [at, n] = (process.env.KILL_AT ?? '').split(':'); if (at === '${name}') { const g = globalThis; g.passes = (g.passes ?? 0) + 1; if (g.passes >= Number(n)) process.kill(process.pid, 'SIGKILL'); } }`;

/** One build with all of the points. */
export function killPointPatches(): Patch[] {
  const places = new Map<string, { file: string; find: string; before: string; after: string }>();
  for (const { name, file, find, where } of POINTS) {
    const key = `${file} ${find}`;
    const place = places.get(key) ?? { file, find, before: '', after: '' };
    places.set(key, { ...place, [where]: `${place[where]} ${killAt(name)} ` });
  }
  return [...places.values()].map(({ file, find, before, after }) => ({
    file,
    find,
    replace: `${before}${find}${after}`,
  }));
}
