import type { ClientSocket } from '../../../lib/client/transports.ts';
import { createHeldTool } from '../net/held-tool.ts';
import { openWorker } from '../net/raw-worker.ts';
import { inRig, type Rig } from '../net/rig.ts';
import type { Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { PATIENCE_MS, until } from '../world/until.ts';

/** The worst copies of F16, in order: a claim twice in a row, a request again while its call runs and after. */
export const eachTwice: Scenario = {
  id: 'F16b',
  name: 'a claim that comes twice, and a request that comes again while its call runs and after',
  run: (context) =>
    inRig(context, async (rig) => {
      const rounds = context.rounds({ full: 20, short: 2 });
      const ids: string[] = [];
      for (let round = 0; round < rounds; round += 1) {
        await claimTwice(rig, round);
        ids.push(await requestAgain(rig, round));
      }
      const { records, figures } = await rig.rest({ areAnswersNamed: false });
      mustSucceed(context.bad, records, 'nothing was lost', ids);
      return {
        figures: { ...figures, rounds },
        summary: `${rounds} × a claim twice in a row, and a request again while its call ran and after it: ${figures.succeeded} of ${figures.calls} succeeded, each effect done once`,
      };
    }),
};

/** Nothing is written between the two, so that a refusal of the second would come before the grant. */
async function claimTwice(rig: Rig, round: number): Promise<void> {
  const worker = await openWorker(rig, `effect_claims_${round}`);
  const id = await rig.api.invoke(worker.tool, { timeout_ms: PATIENCE_MS });
  const { attempt } = await worker.request();
  const claim = { type: 'tool_call_claim', id, attempt };
  worker.send(claim);
  worker.send(claim);
  const granted = () => worker.all('tool_call_granted').length;
  const refused = () => worker.all('tool_call_refused').length;
  await until(() => granted() + refused() === 2);
  worker.act(id);
  worker.answer(id, attempt);
  await worker.next('result_acknowledged');
  await worker.close();
  const detail = `${id}: of two claims of the client that was asked ${granted()} were granted, ${refused()} refused`;
  if (granted() !== 2) rig.bad('I6', detail);
}

/** The real library gets the request again in the middle of its run, and once it has answered. */
async function requestAgain(rig: Rig, round: number): Promise<string> {
  const name = `again-${round}`;
  const copies = createCopies();
  const held = createHeldTool(rig.effects, name, copies.comeAgain);
  const client = rig.client({
    name,
    wrap: copies.wrap,
    onSend: ({ type, id }) => void (type === 'tool_result' && id && copies.afterThis(id)),
    more: [held.definition],
  });
  await client.start();
  await until(() => client.welcomes.length > 0);
  await rig.api.untilListed(held.name);
  const id = await rig.api.invoke(held.name, { timeout_ms: PATIENCE_MS });
  await until(() => rig.effects.has(id));
  // A later call, at its end: what the copy caused has come by then.
  const later = () => rig.api.invoke(`effect_${name}`, { wait_ms: 30_000 });
  await later();
  held.end();
  await rig.api.end(id, PATIENCE_MS);
  await later();
  await client.stop();
  return id;
}

/** Keeps the requests that come through a socket, and brings them again. */
function createCopies() {
  const requests = new Map<string, () => void>();
  return {
    wrap: (socket: ClientSocket): ClientSocket => ({
      send: (text) => socket.send(text),
      close: (code, reason) => socket.close(code, reason),
      addEventListener(type: string, listener: (event: never) => void) {
        if (type !== 'message') return socket.addEventListener(type as 'open', listener as never);
        const take = listener as (event: { readonly data: unknown }) => void;
        socket.addEventListener('message', (event) => {
          const message = JSON.parse(String(event.data));
          if (message.type === 'tool_call_request') requests.set(message.id, () => take(event));
          take(event);
        });
      },
    }),
    comeAgain: (id: string) => requests.get(id)?.(),
    /** For the last time, after what is going on now: the copy makes the client answer again. */
    afterThis(id: string) {
      const come = requests.get(id);
      requests.delete(id);
      if (come) queueMicrotask(come);
    },
  };
}
