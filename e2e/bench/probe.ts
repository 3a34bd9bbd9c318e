import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { round } from './stats.ts';

/** Asks `/healthz` again and again, on a thread of its own: the other one makes inputs and reads answers. */
export async function startProbe({ url }: { readonly url: string }) {
  const worker = new Worker(PROBE, { eval: true, workerData: `${url}/healthz` });
  await once(worker, 'message');
  return {
    /** Milliseconds of the longest answer since it was asked last. */
    async longest(): Promise<number> {
      worker.postMessage('tell');
      const [longest] = await once(worker, 'message');
      return round(longest, 1);
    },
    stop: () => worker.terminate(),
  };
}

const PROBE = `
  const { parentPort, workerData } = require('node:worker_threads');
  let longest = 0;
  let isAsked = false;
  parentPort.on('message', () => { isAsked = true; });
  (async () => {
    const ask = async () => (await fetch(workerData)).text();
    await ask();
    parentPort.postMessage('ready');
    for (;;) {
      const asked = performance.now();
      await ask();
      longest = Math.max(longest, performance.now() - asked);
      // The answer that was under way counts, too.
      if (isAsked) { parentPort.postMessage(longest); longest = 0; isAsked = false; }
    }
  })();
`;
