import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  chromiumCandidates,
  ensureChromium,
  firstThatWorks,
  installers,
} from './find-chromium.mjs';

const setupWith = (env: Record<string, string>) => ({
  node: process.execPath,
  env,
  npmCli: undefined,
});

function folderWith(...names: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'chromium-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of names) writeFileSync(join(folder, name), '', { mode: 0o755 });
  return folder;
}

test("Playwright's own comes first, then the names in turn, each along the PATH", () => {
  const env = { PATH: ['/a', '', '/b'].join(delimiter) };
  expect(chromiumCandidates({ env, ownPath: '/own/chrome' })).toEqual([
    '/own/chrome',
    join('/a', 'chromium'),
    join('/b', 'chromium'),
    join('/a', 'google-chrome'),
    join('/b', 'google-chrome'),
    join('/a', 'chromium-browser'),
    join('/b', 'chromium-browser'),
  ]);
});

test('what is not there, is a folder or does not run is passed over', async () => {
  const folder = folderWith('broken', 'good', 'also-good');
  mkdirSync(join(folder, 'folder'));
  const candidates = ['absent', 'folder', 'broken', 'good', 'also-good'].map((name) =>
    join(folder, name),
  );
  const asked: string[] = [];
  const works = async (path: string) => {
    asked.push(path);
    return !path.endsWith('broken');
  };
  expect(await firstThatWorks(candidates, works)).toBe(join(folder, 'good'));
  expect(asked).toEqual([join(folder, 'broken'), join(folder, 'good')]);
});

test('the one that is named is taken', async () => {
  const path = join(folderWith('my-browser'), 'my-browser');
  expect(await ensureChromium(setupWith({ CALLBOARD_CHROMIUM: path }))).toEqual({ path });
});

test('a name that leads nowhere is told, and nothing is installed in its place', async () => {
  const found = await ensureChromium(setupWith({ CALLBOARD_CHROMIUM: '/nowhere/chrome' }));
  expect(found).toEqual({
    problem: expect.stringMatching(/^CALLBOARD_CHROMIUM is "\/nowhere\/chrome".*install Chromium/),
  });
});

test('the system package is only tried as root, and after the download', () => {
  const programs = (isRoot: boolean) =>
    installers({ node: 'node', isRoot }).map(({ commands }) =>
      commands.map(([program]) => program),
    );
  expect(programs(false)).toEqual([['node']]);
  expect(programs(true)).toEqual([['node'], ['apt-get', 'apt-get']]);
});
