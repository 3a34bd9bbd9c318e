import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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

/** Variables that a source uses and that neither it nor the runtime has, by the source's name. */
async function undeclaredIn(sources: ReadonlyMap<string, string>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'patched-'));
  try {
    await writeFile(join(folder, 'biome.json'), '{"root":true}');
    for (const [name, source] of sources) await writeFile(join(folder, `${name}.ts`), source);
    const biome = resolve(import.meta.dirname, '../../node_modules/.bin/biome');
    const only = ['--only=correctness/noUndeclaredVariables', '--max-diagnostics=none'];
    const { stdout } = spawnSync(biome, ['lint', ...only, '--reporter=github', '.'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return [...stdout.matchAll(/([^/]+)\.ts,.*?::The (\S+) variable/g)].map(
      ([, name, variable]) => `${name}: ${variable}`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// A server that ends by a variable which has gone shows nothing of the guard that is broken.
test('no patch uses a variable that is not there', async () => {
  const patched = new Map<string, string>();
  const all = [
    ...MUTANTS,
    ...SCENARIOS.map(({ id, patches }) => ({
      name: id,
      patches: patches?.({ isShort: true }) ?? [],
    })),
  ];
  for (const { name, patches } of all) {
    for (const [file, source] of await patchedSources(patches))
      patched.set(`${name} ${file}`.replaceAll(/\W+/g, '-'), source);
  }
  expect(await undeclaredIn(patched)).toEqual([]);
});

test('a variable of another function is not there', async () => {
  const source =
    'export function f() { const applied = 1; return applied; }\nexport const g = () => ';
  const sources = new Map([
    ['right', `${source}f();`],
    ['gone', `${source}applied;`],
  ]);
  expect(await undeclaredIn(sources)).toEqual(['gone: applied']);
});

test('each mutant has a name of its own, and a scenario that has to notice it', () => {
  const names = MUTANTS.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(MUTANTS.filter(({ scenario }) => scenarioOf(scenario) === undefined)).toEqual([]);
});
