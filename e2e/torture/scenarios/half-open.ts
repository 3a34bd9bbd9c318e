import { setTimeout as sleep } from 'node:timers/promises';
import { openSocket } from '../../contract/kit/socket.ts';
import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { inNetworkWorld, type NetworkWorld, untilOffers } from '../world/network-world.ts';
import { must, PATIENCE_MS, until } from '../world/until.ts';
import type { World } from '../world/world.ts';
import { beatMsOf, hurriedPatches } from './hurried-heartbeat.ts';

/** In heartbeats of 10 s: shown within 25 s, and its socket ended within 45 s; and what a machine under load adds. */
const SHOWN_BEATS = 2.5;
const ENDED_BEATS = 4.5;
const LATE_MS = 15_000;
/** The server counts so many heartbeats on the frozen tab's socket; so many later it is not shown at all. */
const MOST_BEATS = 12;
const TIMEOUT_MS = 150_000;
const FROZEN_TAB = 'frozen-tab';

/**
 * Clients that stand still with their sockets open; one of them with a network
 * stack that goes on answering pings, as a browser's does for a frozen tab.
 */
export const halfOpen: Scenario = {
  id: 'F12',
  name: 'clients stopped with their sockets open',
  patches: hurriedPatches,
  run(context) {
    const beatMs = beatMsOf(context);
    const frozen = context.isShort ? 2 : 19;
    const rounds = context.rounds({ full: 1, short: 1 });
    return inNetworkWorld(context, { clients: frozen + 1 }, async (network) => {
      const { world } = network;
      let [shownMs, endedMs] = [0, 0];
      for (let round = 0; round < rounds; round += 1) {
        const tab = await openFrozenTab(world);
        const seen = await freeze(network, beatMs, tab.beats);
        void tab.socket.vanish();
        if (!seen) break;
        shownMs = Math.max(shownMs, seen.shownMs);
        endedMs = Math.max(endedMs, seen.endedMs);
        context.say(`shown after ${shownMs} ms, ended after ${endedMs} ms`);
      }
      const { figures, records } = await world.rest();
      mustSucceed(context.bad, records, 'each client was back within the grace');
      const count = rounds * (frozen + 1);
      const times = { shown_ms_max: shownMs, ended_ms_max: endedMs, heartbeat_ms: beatMs };
      return {
        figures: { ...figures, frozen: count, ...times },
        summary: `${count} clients frozen with open sockets, heartbeat ${beatMs} ms: shown as silent after at most ${shownMs} ms, ended after at most ${endedMs} ms; ${figures.accepted} calls, ${figures.succeeded} succeeded once`,
      };
    });
  },
};

async function freeze(
  { world, clients: [awake, ...clients] }: NetworkWorld,
  beatMs: number,
  beats: () => number,
): Promise<{ shownMs: number; endedMs: number } | undefined> {
  const { api, watcher } = world;
  const bad = (detail: string) => world.bad('I14', detail);
  if (!awake) throw new Error('nobody is left awake');
  const ask = (client?: string, ms = 0) =>
    api.invoke('effect', { timeout_ms: TIMEOUT_MS, client, args: { ms } });
  const running = await Promise.all(clients.map(({ id }) => ask(id, 400)));
  await sleep(100);
  const stoppedAt = performance.now();
  for (const { process } of clients) process.signal('SIGSTOP');
  const names = [...clients.map(({ name }) => name), FROZEN_TAB];
  const firstBeat = beats();
  const after = async (what: string, inBeats: number, test: (name: string) => boolean) => {
    const limitMs = inBeats * beatMs + LATE_MS;
    const isOver = () =>
      beats() > firstBeat + MOST_BEATS || performance.now() > stoppedAt + limitMs;
    const times = names.map(async (name) => {
      await must(`${name} is ${what}`, () => test(name) || isOver(), limitMs + PATIENCE_MS);
      const ms = Math.round(performance.now() - stoppedAt);
      if (test(name)) return ms;
      bad(`${name} is not ${what} after ${ms} ms; at most ${limitMs}`);
      return Infinity;
    });
    return Math.max(...(await Promise.all(times)));
  };
  const wake = async () => {
    for (const { process } of clients) process.signal('SIGCONT');
    await Promise.all(clients.map(({ name }) => untilOffers(watcher, name)));
    return undefined;
  };
  const shownMs = await after('silent', SHOWN_BEATS, (name) => !watcher.now(name)?.responsive);
  if (shownMs === Infinity) return wake();
  // Calls for anybody go to whom is awake; that for a frozen one waits.
  const waiting = await ask(clients[0]?.id);
  const anybody = await Promise.all(clients.map(() => ask()));
  for (const id of anybody) {
    const { client_id: asked, status } = await api.end(id, PATIENCE_MS);
    if (asked !== awake.id) bad(`${id} is ${status} and was given to ${asked}, which is frozen`);
  }
  const { phase } = await api.end(waiting, 0);
  if (phase !== 'queued') bad(`${waiting} is ${phase}; its client is frozen, so it has to wait`);
  const endedMs = await after('ended', ENDED_BEATS, (name) => watcher.now(name) === undefined);
  await wake();
  if (endedMs === Infinity) return undefined;
  await Promise.all([...running, waiting].map((id) => api.end(id, TIMEOUT_MS)));
  return { shownMs, endedMs };
}

/** It says hello and nothing more; its library answers pings. */
async function openFrozenTab(world: World) {
  let beats = 0;
  const count = () => {
    beats += 1;
    return [];
  };
  const socket = await openSocket(world, '/ws/client', count);
  socket.ws.on('ping', count);
  socket.send({ type: 'hello', name: FROZEN_TAB, kind: 'tab', caps: ['claim', 'probe'] });
  await until(() => beats > 0);
  return { socket, beats: () => beats };
}
