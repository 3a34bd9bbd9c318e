import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Scenario, Violation } from '../scenario.ts';
import { askCall, callEnd } from '../world/ask-call.ts';
import {
  createNetworkWorld,
  type NetworkWorld,
  notSucceeded,
  untilOffers,
} from '../world/network-world.ts';
import { until } from '../world/until.ts';
import type { World } from '../world/world.ts';
import { beatMsOf, hurriedPatches } from './hurried-heartbeat.ts';

/** In heartbeats of 10 s: shown within 25 s, and its socket ended within 45 s; and what a machine under load adds. */
const SHOWN_BEATS = 2.5;
const ENDED_BEATS = 4.5;
const LATE_MS = 15_000;
/** The server counts so many heartbeats on the frozen tab's socket; so many later it is not shown at all. */
const MOST_BEATS = 12;
const PATIENCE_MS = 60_000;
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
  async run(context) {
    const { build, random } = context;
    const beatMs = beatMsOf(context);
    const dir = await context.tempDir();
    const frozen = context.isShort ? 2 : 19;
    const rounds = context.rounds({ full: 1, short: 1 });
    const network = await createNetworkWorld({ build, dir, random, clients: frozen + 1 });
    const { world } = network;
    const violations: Violation[] = [];
    const bad = (detail: string) => violations.push({ invariant: 'I14', detail });
    let [shownMs, endedMs] = [0, 0];
    try {
      for (let round = 0; round < rounds; round += 1) {
        const tab = await openFrozenTab(world);
        const seen = await freeze(network, { beatMs, bad, beats: tab.beats });
        tab.socket.terminate();
        if (!seen) break;
        shownMs = Math.max(shownMs, seen.shownMs);
        endedMs = Math.max(endedMs, seen.endedMs);
        context.say(`shown after ${shownMs} ms, ended after ${endedMs} ms`);
      }
      const { figures, violations: found, records } = await world.rest();
      const lost = notSucceeded(records.values(), 'each client was back within the grace');
      const counts = {
        frozen: rounds * (frozen + 1),
        shown_ms_max: shownMs,
        ended_ms_max: endedMs,
      };
      return {
        figures: { ...figures, ...counts, heartbeat_ms: beatMs },
        violations: [...violations, ...found, ...lost],
        summary: `${counts.frozen} clients frozen with open sockets, heartbeat ${beatMs} ms: shown as silent after at most ${shownMs} ms, ended after at most ${endedMs} ms; ${figures.accepted} calls, ${figures.succeeded} succeeded once`,
      };
    } finally {
      await network.end();
    }
  },
};

async function freeze(
  { world, clients: [awake, ...clients], watch }: NetworkWorld,
  { beatMs, bad, beats }: { beatMs: number; bad: (detail: string) => void; beats: () => number },
): Promise<{ shownMs: number; endedMs: number } | undefined> {
  if (!awake) throw new Error('nobody is left awake');
  const ask = (client?: string, ms = 0) =>
    askCall(world, 'effect', { timeoutMs: TIMEOUT_MS, client, ms });
  const running = await Promise.all(clients.map(({ id }) => ask(id, 400)));
  await sleep(100);
  const stoppedAt = performance.now();
  for (const { process } of clients) process.signal('SIGSTOP');
  const names = [...clients.map(({ name }) => name), FROZEN_TAB];
  const firstBeat = beats();
  const after = async (what: string, inBeats: number, test: (name: string) => boolean) => {
    const limitMs = inBeats * beatMs + LATE_MS;
    const times = names.map(async (name) => {
      const isOver = () =>
        beats() > firstBeat + MOST_BEATS || performance.now() > stoppedAt + limitMs;
      const is = await until(`${name} is ${what}`, limitMs + PATIENCE_MS, () =>
        test(name) ? 'shown' : isOver() && 'not shown',
      );
      const ms = Math.round(performance.now() - stoppedAt);
      if (is === 'not shown') bad(`${name} is not ${what} after ${ms} ms; at most ${limitMs}`);
      return is === 'shown' ? ms : undefined;
    });
    const all = await Promise.all(times);
    return all.every((ms) => ms !== undefined) ? Math.max(...all) : undefined;
  };
  const wake = async () => {
    for (const { process } of clients) process.signal('SIGCONT');
    await Promise.all(clients.map(({ name }) => untilOffers(watch, name)));
  };
  const shownMs = await after('silent', SHOWN_BEATS, (name) => !watch.now(name)?.responsive);
  if (shownMs === undefined) return void (await wake());
  // Calls for anybody go to whom is awake; that for a frozen one waits.
  const waiting = await ask(clients[0]?.id);
  const anybody = await Promise.all(clients.map(() => ask()));
  for (const id of anybody) {
    const { client_id: asked, status } = await callEnd(world, id, PATIENCE_MS);
    if (asked !== awake.id) bad(`${id} is ${status} and was given to ${asked}, which is frozen`);
  }
  const { phase } = await callEnd(world, waiting, 0);
  if (phase !== 'queued') bad(`${waiting} is ${phase}; its client is frozen, so it has to wait`);
  const endedMs = await after('ended', ENDED_BEATS, (name) => watch.now(name) === undefined);
  await wake();
  if (endedMs === undefined) return undefined;
  await Promise.all([...running, waiting].map((id) => callEnd(world, id, TIMEOUT_MS)));
  return { shownMs, endedMs };
}

/** It says hello and nothing more; its library answers pings. */
async function openFrozenTab({
  url,
  token,
}: World): Promise<{ socket: WebSocket; beats: () => number }> {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/client`, { headers });
  let beats = 0;
  const count = () => {
    beats += 1;
  };
  socket.on('error', () => {});
  socket.on('ping', count);
  socket.on('message', count);
  await new Promise((opened) => socket.once('open', opened));
  socket.send(
    JSON.stringify({ type: 'hello', name: FROZEN_TAB, kind: 'tab', caps: ['claim', 'probe'] }),
  );
  await new Promise((welcomed) => socket.once('message', welcomed));
  return { socket, beats: () => beats };
}
