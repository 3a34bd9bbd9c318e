import { expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { CallRepository } from './call-repository.ts';
import { ENDED_LIMITS } from './ended-calls.ts';

const CALLS = 10;

/** Finds each call a hundred times in one turn; how many were read in all, and in one turn at most. */
async function findAll(bytes: number) {
  const read: string[] = [];
  let inTurn = 0;
  let mostInTurn = 0;
  const repository = new CallRepository({
    store: {
      callBytes: async () => bytes,
      async getCall(id) {
        read.push(id);
        inTurn += 1;
        mostInTurn = Math.max(mostInTurn, inTurn);
        setImmediate(() => {
          inTurn = 0;
        });
        return sampleCall({ id });
      },
    },
    clock: createManualClock(),
    endedLimits: ENDED_LIMITS,
  });
  const ids = Array.from({ length: CALLS * 100 }, (_, at) => `tc_${at % CALLS}`);
  const found = await Promise.all(ids.map((id) => repository.find(id)));
  expect(found.map((call) => call?.id)).toEqual(ids);
  return { read, mostInTurn };
}

test('[CA27] of large records that clients name one is read in a turn, each once for all who wait', async () => {
  expect(await findAll(8 * 1024 * 1024)).toEqual({
    read: Array.from({ length: CALLS }, (_, at) => `tc_${at}`),
    mostInTurn: 1,
  });
});

test('[CA27] small ones are read at once', async () => {
  expect((await findAll(1_000)).mostInTurn).toBe(CALLS * 100);
});

test('[CA27] one that cannot be read keeps no other waiting', async () => {
  const repository = new CallRepository({
    store: {
      callBytes: async () => 8 * 1024 * 1024,
      getCall: async (id) =>
        id === 'tc_bad' ? Promise.reject(new Error('damaged')) : sampleCall({ id }),
    },
    clock: createManualClock(),
    endedLimits: ENDED_LIMITS,
  });
  const [bad, good] = await Promise.allSettled([
    repository.find('tc_bad'),
    repository.find('tc_1'),
  ]);
  expect([bad.status, good.status]).toEqual(['rejected', 'fulfilled']);
  await expect(repository.find('tc_bad')).rejects.toThrow('damaged');
});
