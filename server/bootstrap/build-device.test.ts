import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { sharedTempDir } from '../../lib/testing/temp-dir.ts';
import { bundleDevice } from './build-device.mjs';

const dir = sharedTempDir();

const { initial, connected, inputs } = await bundleDevice(dir);
const madeOf = (names: readonly string[]) => names.flatMap((name) => inputs.get(name) ?? []);
const rest = [...inputs.keys()].filter((name) => !initial.includes(name));

test('[DP18] until it is connected and offers its tools the page loads less than 90,000 bytes of JavaScript', () => {
  const sizes = connected.map(
    (name) => gzipSync(readFileSync(join(dir, name)), { level: 9 }).length,
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(90_000);
  // Guards the measurement itself: the runtime, the page, the client library and the tools are in it.
  for (const file of [
    'node_modules/preact/compat/dist/compat.mjs',
    'components/device/ask-sheet.tsx',
    'lib/client/call-runner.ts',
    'lib/browser-tools/browser-tools.ts',
    'lib/i18n/messages/device/zh.json',
  ]) {
    expect(madeOf(connected)).toContain(file);
  }
});

test('[DP30] what a tool alone uses comes once the tool runs', () => {
  for (const file of ['node_modules/modern-screenshot/', 'node_modules/qr/']) {
    expect(madeOf(connected).join()).not.toContain(file);
    expect(madeOf(rest).join()).toContain(file);
  }
});

test('[DP30] React’s runtime is in no part: Preact’s answers to its names', () => {
  const all = [...inputs.values()].flat().join();
  expect(all).not.toMatch(/node_modules\/react(-dom)?\//);
});

test('[DP18] zod is in no part, the client library and the tools only in one that comes later', () => {
  expect([...inputs.values()].flat().filter((file) => /node_modules\/zod\//.test(file))).toEqual(
    [],
  );
  for (const file of ['lib/client/call-runner.ts', 'lib/browser-tools/browser-tools.ts']) {
    expect(madeOf(initial)).not.toContain(file);
    expect(madeOf(rest)).toContain(file);
  }
});

test('[DP17] each language is a part of its own', () => {
  for (const language of ['en', 'zh']) {
    const file = `lib/i18n/messages/device/${language}.json`;
    expect(madeOf(initial)).not.toContain(file);
    expect(rest.filter((name) => inputs.get(name)?.includes(file))).toHaveLength(1);
  }
});

test('[DP20] the index names each file with a hash of its content', () => {
  const index = JSON.parse(readFileSync(join(dir, 'index.json'), 'utf8'));
  expect([index.entry, ...index.preload].toSorted()).toEqual(initial.toSorted());
  for (const name of index.assets) expect(name).toMatch(/^(device|part)-[A-Z0-9]{8}\.(js|css)$/);
  expect(index.assets).toContain(index.style);
});

test('[DP21] the icons have their sizes, and the maskable one fills its square', async () => {
  for (const [name, size] of [
    ['icon-192.png', 192],
    ['icon-512.png', 512],
    ['icon-maskable-512.png', 512],
    ['apple-touch-icon.png', 180],
  ] as const) {
    const picture = sharp(join(dir, name));
    expect(await picture.metadata(), name).toMatchObject({ width: size, height: size });
    const isWhole = name !== 'icon-192.png' && name !== 'icon-512.png';
    expect((await picture.stats()).isOpaque, name).toBe(isWhole);
  }
});

test('[DP21] the service worker keeps the files of this build', () => {
  const worker = readFileSync(join(dir, 'sw.js'), 'utf8');
  for (const name of initial) expect(worker).toContain(`/device/assets/${name}`);
});
