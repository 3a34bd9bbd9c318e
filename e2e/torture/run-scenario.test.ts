import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { makeStoreFiles, placeStoreFiles } from '../../server/store/testing/store-files.ts';
import type { Build } from './build-variant.ts';
import { runScenario } from './run-scenario.ts';

const BUILD: Build = {
  name: 'original',
  patches: [],
  serverFile: '',
  clientFile: '',
  libraryFile: '',
  pageFile: '',
  remove: async () => {},
};

const runOf = async (fault: () => unknown) =>
  (
    await runScenario(
      {
        id: 'F00',
        name: 'a scenario',
        run: async () => {
          fault();
          throw new Error('unreachable');
        },
      },
      {
        ...{ seed: 'a', cycles: 1, isShort: true, original: BUILD, chromium: undefined },
        say: () => {},
      },
    )
  ).outcome.violations;

test('a message of the server that does not fit the protocol is a violation, with its place', async () => {
  const answer = z.object({ card: z.object({ client_name: z.string() }) });
  const [first] = await runOf(() => answer.parse({ card: { client_name: 7 } }));
  expect(first?.invariant).toBe('HEALTH');
  expect(first?.detail).toContain('not of the protocol, at card.client_name: ');
});

test('another error of a scenario is a defect of the rig, which shows nothing of the server', async () => {
  const [first] = await runOf(() => {
    throw new Error('no port is free');
  });
  expect(first?.invariant).toBe('RUN');
  expect(first?.detail).toContain('no port is free');
});

test('a scenario that does not come to its end is a violation once its time is over', async () => {
  const { outcome } = await runScenario(
    { id: 'F00', name: 'a scenario', run: () => new Promise(() => {}) },
    {
      ...{ seed: 'a', cycles: 1, isShort: true, original: BUILD, chromium: undefined },
      ...{ say: () => {}, limitMs: 10 },
    },
  );
  expect(outcome.violations[0]?.detail).toContain('it was not at its end after 0.01 s');
});

test.each([
  ['that is what its log makes is told as rebuilt', 'SELECT 1', undefined],
  ['that is not what its log makes is a violation', "UPDATE calls SET tool_name = 'b'", 'I16'],
])('a store %s', async (_, change, invariant) => {
  const { outcome } = await runScenario(
    {
      id: 'F00',
      name: 'a scenario',
      async run({ tempDir }) {
        const dir = await tempDir();
        const file = join(dir, 'server', 'callboard.db');
        placeStoreFiles(file, await makeStoreFiles(join(dir, 'made'), 5));
        const database = new DatabaseSync(file);
        database.exec(change);
        database.close();
        return { figures: {}, summary: '' };
      },
    },
    {
      ...{ seed: 'a', cycles: 1, isShort: true, original: BUILD, chromium: undefined },
      say: () => {},
    },
  );
  expect(outcome.figures).toEqual({ rebuilt: 1 });
  expect(outcome.violations[0]?.invariant).toBe(invariant);
});
