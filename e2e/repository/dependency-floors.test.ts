import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

/** The first versions without the published holes that this server would have. */
const FLOORS = {
  next: '16.2.6',
  react: '19.2.4',
  'react-dom': '19.2.4',
  ws: '8.21.0',
  zod: '4.4.0',
};

const parts = (version: string) => version.split('.').map(Number);

function isAtLeast(version: string, floor: string): boolean {
  const [have, need] = [parts(version), parts(floor)];
  for (const [at, least] of need.entries()) {
    const part = have[at] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

test.each(Object.entries(FLOORS))(
  'T143: %s is at least %s, exact in the manifest and as installed',
  (name, floor) => {
    const wanted: string = manifest.dependencies[name];
    const installed: string = lock.packages[`node_modules/${name}`].version;
    expect(wanted).toMatch(/^\d+\.\d+\.\d+$/);
    expect(installed).toBe(wanted);
    expect(isAtLeast(installed, floor), installed).toBe(true);
  },
);

test('a version is compared by its numbers', () => {
  expect(isAtLeast('16.10.0', '16.2.6')).toBe(true);
  expect(isAtLeast('16.2.5', '16.2.6')).toBe(false);
});
