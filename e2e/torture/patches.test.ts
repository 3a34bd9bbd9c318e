import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { type Patch, patchedSources, sourcesOfBuild } from './build-variant.ts';
import { MUTANTS } from './mutants/all-mutants.ts';
import { SCENARIOS } from './scenarios/all-scenarios.ts';

/** Throws when a place is not there exactly once, or what is left of its file is no program. */
async function build(patches: readonly Patch[]): Promise<void> {
  for (const [file, source] of await patchedSources(patches)) {
    await transform(source, { loader: 'ts', sourcefile: file });
  }
}

const scenarioOf = (id: string) => SCENARIOS.find((one) => one.id === id);

describe('the places that a torture changes are in the sources as they are', () => {
  test.each(SCENARIOS.map((scenario) => [scenario.id, scenario] as const))(
    'for the scenario %s, short and long',
    async (_, { patches }) => {
      await build(patches?.({ isShort: true }) ?? []);
      await build(patches?.({ isShort: false }) ?? []);
    },
  );

  test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    'for the mutant "%s"',
    async (_, { scenario, patches }) => {
      const beside = scenarioOf(scenario)?.patches?.({ isShort: true }) ?? [];
      await build([...patches, ...beside]);
    },
  );

  test('and each of them is part of what is built', async () => {
    const files = await sourcesOfBuild();
    const patched = [
      ...MUTANTS.flatMap(({ patches }) => patches),
      ...SCENARIOS.flatMap(({ patches }) => patches?.({ isShort: true }) ?? []),
    ].map(({ file }) => file);
    expect(patched.filter((file) => !files.has(file))).toEqual([]);
  });
});

test('each mutant has a name of its own, and a scenario that has to notice it', () => {
  const names = MUTANTS.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(MUTANTS.filter(({ scenario }) => scenarioOf(scenario) === undefined)).toEqual([]);
});
