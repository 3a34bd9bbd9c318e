import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { patchedSources, sourcesOfBuild } from './build-variant.ts';
import { type Marker, readMarkers } from './markers.ts';
import { MUTANTS } from './mutants/all-mutants.ts';
import type { Patch } from './patch.ts';
import { SCENARIOS } from './scenarios/all-scenarios.ts';

/** Throws when a place is not there exactly once, or what is left of its file is no program. */
async function build(patches: readonly Patch[]): Promise<void> {
  for (const [file, source] of await patchedSources(patches)) {
    await transform(source, { loader: 'ts', sourcefile: file });
  }
}

const scenarioOf = (id: string) => SCENARIOS.find((one) => one.id === id);
const placesOf = (patches: readonly Patch[]) =>
  [...new Set(patches.map(({ at }) => at))].toSorted();
const ofScenarios = SCENARIOS.flatMap(({ patches }) =>
  [true, false].flatMap((isShort) => patches?.({ isShort }) ?? []),
);
const markers = [...(await readMarkers()).values()];
const namesOf = (kind: Marker['kind']) =>
  markers
    .filter((one) => one.kind === kind)
    .map(({ name }) => name)
    .toSorted();

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

  test('each guard that has a name has a mutant without it, and each mutant such a guard', () => {
    expect(placesOf(MUTANTS.flatMap(({ patches }) => patches))).toEqual(namesOf('guard'));
  });

  test('each fault point has a scenario that uses it, and each scenario uses only such places', () => {
    expect(placesOf(ofScenarios)).toEqual(namesOf('fault point'));
  });

  test('each of them is part of what is built, and no name of them is left in it', async () => {
    const { files, text } = await sourcesOfBuild();
    expect(markers.filter(({ file }) => !files.has(file))).toEqual([]);
    expect(text).toContain('CONNECTION_PRAGMAS');
    expect(text.match(/.*(guard|fault point): .*/g)).toEqual(null);
  });
});

test('each mutant has a name of its own, and a scenario that has to notice it', () => {
  const names = MUTANTS.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(MUTANTS.filter(({ scenario }) => scenarioOf(scenario) === undefined)).toEqual([]);
});
