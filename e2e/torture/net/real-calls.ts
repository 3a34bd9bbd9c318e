import { setTimeout as sleep } from 'node:timers/promises';
import type { Rig } from './rig.ts';

/** Calls of an honest client, one after another, beside what is done to the server. */
export async function makeRealCalls({ client, api, bad }: Rig, everyMs: number) {
  const honest = client({ name: 'honest' });
  await honest.start();
  await api.untilListed('effect_honest');
  const ids: string[] = [];
  let isOver = false;
  const calls = async () => {
    while (!isOver) {
      ids.push(await api.invoke('effect_honest', { wait_ms: 10_000, timeout_ms: 10_000 }));
      await sleep(everyMs);
    }
  };
  const made = calls().catch((error: unknown) =>
    bad('HEALTH', `a real call beside the fuzzing was refused: ${error}`),
  );
  return {
    ids,
    async stop(): Promise<void> {
      isOver = true;
      await made;
    },
  };
}
