import { expect, test } from 'vitest';
import { completeLock, platformOf } from './complete-lock.mjs';

const parent = (version: string, optionalDependencies: Record<string, string>) => ({
  version,
  optionalDependencies,
});

test('an optional dependency without an entry gets one, in npm’s order: version and platform, no address', () => {
  const packages = {
    '': {},
    'node_modules/a-linux-x64': { version: '1.0.0', integrity: 'sha512-x' },
    'node_modules/tool': { ...parent('2.0.0', { '@tool/darwin-arm64': '2.0.0' }), dev: true },
  };
  const { lock, added } = completeLock({ packages });
  expect(added).toEqual(['node_modules/@tool/darwin-arm64']);
  expect(lock.packages['node_modules/@tool/darwin-arm64']).toEqual({
    version: '2.0.0',
    cpu: ['arm64'],
    os: ['darwin'],
    dev: true,
    optional: true,
  });
  expect(lock.packages).toMatchObject(packages);
  expect(Object.keys(lock.packages)[1]).toBe('node_modules/@tool/darwin-arm64');
  expect(completeLock(lock)).toEqual({ lock, added: [] });
});

test('a nested package finds what lies above it, but another exact version there is hidden by an entry of its own', () => {
  const packages = {
    'node_modules/a/node_modules/b': parent('1.0.0', { 'b-darwin-x64': '1.0.0' }),
    'node_modules/b': parent('2.0.0', { 'b-darwin-x64': '2.0.0', fsevents: '~2.3.2' }),
    'node_modules/b-darwin-x64': { version: '2.0.0' },
    'node_modules/c/node_modules/d': parent('1.0.0', { 'b-darwin-x64': '2.0.0' }),
    'node_modules/fsevents': { version: '2.3.3' },
  };
  const { lock, added } = completeLock({ packages });
  expect(added).toEqual(['node_modules/a/node_modules/b/node_modules/b-darwin-x64']);
  expect(lock.packages[added[0] ?? '']?.version).toBe('1.0.0');
});

test.each([
  ['^2.3.4', '2.3.4'],
  ['~1.0.0-rc.1', '1.0.0-rc.1'],
  ['*', '9.9.9'],
])('the range %s is met by %s', (range, version) => {
  const packages = { 'node_modules/a': parent('9.9.9', { 'a-darwin-x64': range }) };
  const { lock } = completeLock({ packages });
  expect(lock.packages['node_modules/a-darwin-x64']?.version).toBe(version);
});

test.each([
  ['@next/swc-win32-x64-msvc', { cpu: ['x64'], os: ['win32'] }],
  ['@biomejs/cli-linux-x64-musl', { cpu: ['x64'], os: ['linux'], libc: ['musl'] }],
  ['@swc/core-linux-ppc64-gnu', { cpu: ['ppc64'], os: ['linux'], libc: ['glibc'] }],
  ['@oxc-parser/binding-linux-arm-musleabihf', { cpu: ['arm'], os: ['linux'], libc: ['musl'] }],
  ['@oxc-parser/binding-android-arm-eabi', { cpu: ['arm'], os: ['android'] }],
  ['@tailwindcss/oxide-wasm32-wasi', { cpu: ['wasm32'] }],
  ['fsevents', {}],
])('%s tells its platform', (name, platform) => {
  expect(platformOf(name)).toEqual(platform);
});
