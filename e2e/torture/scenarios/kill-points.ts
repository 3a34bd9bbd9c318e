import type { Patch } from '../build-variant.ts';

/** A moment in the life of a call, and where in the sources it is. */
interface KillPoint {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly where: 'before' | 'after';
}

const LEDGER = 'server/calls/call-ledger.ts';
const CLIENT_CALLS = 'server/calls/client-calls.ts';
const SESSIONS = 'server/connections/client-sessions.ts';
const WORKER = 'server/store/write-worker.ts';
const COMMIT = "database.exec('COMMIT');";

/** In the order in which a call meets them. */
const POINTS: readonly KillPoint[] = [
  { name: 'decided', file: LEDGER, find: 'onDecided(record, previous);', where: 'after' },
  { name: 'in-transaction', file: WORKER, find: COMMIT, where: 'before' },
  { name: 'committed', file: WORKER, find: COMMIT, where: 'after' },
  {
    name: 'written',
    file: LEDGER,
    find: 'entry.writes -= 1;\n        publish(entry, record, toTell);',
    where: 'before',
  },
  {
    name: 'told-watchers',
    file: LEDGER,
    find: 'deps.onDurable(record, previous);',
    where: 'before',
  },
  {
    name: 'before-offer',
    file: 'server/calls/invoke.ts',
    find: 'placed.after();',
    where: 'before',
  },
  { name: 'offered', file: 'server/calls/invoke.ts', find: 'placed.after();', where: 'after' },
  { name: 'claim-came', file: CLIENT_CALLS, find: "{ type: 'claimed', from });", where: 'after' },
  {
    name: 'grant-written',
    file: CLIENT_CALLS,
    find: 'const now = ledger.latest(id);',
    where: 'before',
  },
  {
    name: 'result-came',
    file: CLIENT_CALLS,
    find: 'const measured = measure(given);',
    where: 'after',
  },
  {
    name: 'result-written',
    file: CLIENT_CALLS,
    find: "return { type: 'result_acknowledged', id, disposition: 'accepted' };",
    where: 'before',
  },
  { name: 'reply-sent', file: SESSIONS, find: 'if (!dead) channel.send(message);', where: 'after' },
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
