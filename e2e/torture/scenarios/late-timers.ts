import { setTimeout as sleep } from 'node:timers/promises';
import { connectWatcher } from '../../contract/kit/watcher.ts';
import { openWorker, type RawWorker } from '../net/raw-worker.ts';
import { inRig, type Rig } from '../net/rig.ts';
import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { createGate, type Gate, gatePatches } from '../world/gate.ts';
import { must, PATIENCE_MS } from '../world/until.ts';
import { beatMsOf, hurriedPatches } from './hurried-heartbeat.ts';

/** The clock of a call whose time is over while the server stands; doubled when the server was too slow to stand in time. */
const FIRST_TIMEOUT_MS = 1_000;
const MOST_TRIES = 6;
const HURRIED = { isShort: true };

/**
 * The server's event loop is stopped between its sockets and its timers. What came in meanwhile lies
 * unread when the timers fire, and they have to look at it first; and what a client was asked before
 * does not count against it.
 */
export const lateTimers: Scenario = {
  id: 'F19b',
  name: 'timers that fire before what had arrived in time is read',
  patches: () => [...gatePatches(), ...hurriedPatches(HURRIED)],
  async run(context) {
    const gate = createGate(await context.tempDir());
    const rounds = context.rounds({ full: 10, short: 1 });
    return inRig(
      context,
      async (rig) => {
        const ids: string[] = [];
        for (let round = 0; round < rounds; round += 1) {
          ids.push(await answerWhileItStands(rig, gate, round));
          await silenceWhileItStands(rig, gate, round);
        }
        const { records, figures } = await rig.rest({ areAnswersNamed: false });
        mustSucceed(context.bad, records, 'its answer had arrived in time', ids);
        return {
          figures: { ...figures, stalls: 2 * rounds },
          summary: `${2 * rounds} stalls between sockets and timers: ${figures.succeeded} of ${ids.length} calls whose answers lay unread succeeded, no client was shown as silent`,
        };
      },
      { env: gate.env },
    );
  },
};

/** Gives the call, whose clock ran out while its answer lay in the socket. */
async function answerWhileItStands(rig: Rig, gate: Gate, round: number): Promise<string> {
  const worker = await openWorker(rig, `effect_late_${round}`);
  let timeoutMs = FIRST_TIMEOUT_MS;
  for (let left = MOST_TRIES; left > 0; left -= 1) {
    const id = await rig.api.invoke(worker.tool, { timeout_ms: timeoutMs });
    const { attempt } = await worker.request();
    const claimedAt = performance.now();
    worker.send({ type: 'tool_call_claim', id, attempt });
    await worker.next('tool_call_granted', (grant) => grant.id === id);
    worker.act(id);
    gate.stall();
    await gate.reached();
    const isInTime = performance.now() - claimedAt < timeoutMs;
    await sent(worker, { type: 'tool_result', id, output: 'in time', success: true, attempt });
    if (isInTime) await sleep(timeoutMs + 100 - (performance.now() - claimedAt));
    gate.open();
    await worker.settled();
    if (!isInTime) {
      // The clock ran out before the server stood: that says nothing.
      timeoutMs *= 2;
      continue;
    }
    await worker.close();
    return id;
  }
  throw new Error(`the server did not stand within ${timeoutMs / 2} ms`);
}

/** Resolves once it lies in the server's socket. */
const sent = ({ ws }: RawWorker, message: object): Promise<void> =>
  new Promise((passed) => ws.send(JSON.stringify(message), () => passed()));

/** One heartbeat has asked the client, and the next is late by the server's own doing. */
async function silenceWhileItStands(rig: Rig, gate: Gate, round: number): Promise<void> {
  const worker = await openWorker(rig, `effect_silent_${round}`);
  const probes = () => worker.all('probe').length;
  const answer = () => worker.send({ type: 'probe_ack', nonce: worker.all('probe').at(-1)?.nonce });
  for (let left = 3 * MOST_TRIES; left > 0; left -= 1) {
    const before = probes();
    await must('the client is asked whether it lives', () => probes() > before);
    gate.stall();
    await gate.reached();
    await sleep(1.5 * beatMsOf(HURRIED));
    const isFirst = probes() === before + 1;
    gate.open();
    await must('the late heartbeat asks again', () => probes() > before + 1);
    const isShown = await isResponsive(rig, worker.tool);
    await worker.settled();
    // A further heartbeat, in time: from then on it is silent by its own doing.
    const isConclusive = isFirst && probes() === before + 2;
    answer();
    await worker.settled();
    if (!isConclusive) continue;
    await worker.close();
    if (!isShown)
      rig.bad('I14', `${worker.tool} was silent for a heartbeat that the server was late with`);
    return;
  }
  throw new Error('the server never stood between two heartbeats');
}

/** True when a watcher that comes now is shown that the client answers. */
async function isResponsive({ board }: Rig, name: string): Promise<boolean> {
  const watcher = await connectWatcher(board, { patienceMs: PATIENCE_MS });
  watcher.watch();
  const { clients } = await watcher.next('snapshot');
  await watcher.close();
  return clients.some((client) => client.name === name && client.responsive);
}
