import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { makeStoreFiles, placeStoreFiles } from '../../server/store/testing/store-files.ts';
import type { Build } from './build-variant.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';

const BUILD: Build = {
  name: 'original',
  patches: [],
  serverFile: '',
  clientFile: '',
  libraryFile: '',
  pageFile: '',
  remove: async () => {},
};

/** The outcome of a scenario that does this. */
const outcomeOf = async (run: Scenario['run'], limitMs?: number) => {
  const options = { seed: 'a', cycles: 1, isShort: true, original: BUILD, chromium: undefined };
  const limit = limitMs === undefined ? {} : { limitMs };
  const scenario = { id: 'F00', name: 'a scenario', run };
  return (await runScenario(scenario, { ...options, ...limit, say: () => {} })).outcome;
};

test('a message of the server that does not fit the protocol is a violation, with its place', async () => {
  const answer = z.object({ card: z.object({ client_name: z.string() }) });
  const { violations } = await outcomeOf(async () => {
    answer.parse({ card: { client_name: 7 } });
    return { figures: {}, summary: '' };
  });
  expect(violations).toMatchObject([
    { invariant: 'HEALTH', detail: expect.stringContaining('at card.client_name: ') },
  ]);
});

test('what was found before another error counts, which is a defect of the rig', async () => {
  const { violations } = await outcomeOf(async ({ bad }) => {
    bad('I1', 'a call is gone');
    throw new Error('no port is free');
  });
  expect(violations).toMatchObject([
    { invariant: 'I1', detail: 'a call is gone' },
    { invariant: 'RUN', detail: expect.stringContaining('no port is free') },
  ]);
});

test('a scenario that does not come to its end is a violation once its time is over', async () => {
  const { violations } = await outcomeOf(() => new Promise(() => {}), 10);
  expect(violations[0]?.detail).toContain('it was not at its end after 0.01 s');
});

test.each([
  ['that is what its log makes is told as rebuilt', 'SELECT 1', undefined],
  ['that is not what its log makes is a violation', "UPDATE calls SET tool_name = 'b'", 'I16'],
])('a store %s', async (_, change, invariant) => {
  const { figures, violations } = await outcomeOf(async ({ tempDir }) => {
    const dir = await tempDir();
    const file = join(dir, 'server', 'callboard.db');
    placeStoreFiles(file, await makeStoreFiles(join(dir, 'made'), 5));
    const database = new DatabaseSync(file);
    database.exec(change);
    database.close();
    return { figures: {}, summary: '' };
  });
  expect(figures).toEqual({ rebuilt: 1 });
  expect(violations[0]?.invariant).toBe(invariant);
});
