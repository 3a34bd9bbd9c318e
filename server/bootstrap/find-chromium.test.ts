import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  chromiumCandidates,
  ensureChromium,
  ensureHeadlessShell,
  firstThatWorks,
  installers,
  shellCandidates,
  shellInstaller,
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

/** A program that starts, as far as its version. */
function putProgram(path: string) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  return path;
}

test("Playwright's headless shell is beside its Chromium, of the same number, before the system's", () => {
  const folder = folderWith();
  const system = join(folder, 'chromium_headless_shell-7', 'chrome-headless-shell-linux64');
  mkdirSync(system, { recursive: true });
  mkdirSync(join(folder, 'chromium_headless_shell-6', 'chrome-headless-shell-linux64'), {
    recursive: true,
  });
  const ownPath = join(folder, 'chromium-7', 'chrome-linux64', 'chrome');
  expect(shellCandidates({ env: { PATH: '/a' }, ownPath })).toEqual([
    join(system, 'chrome-headless-shell'),
    join(system, 'headless_shell'),
    join(system, 'chrome-headless-shell.exe'),
    join('/a', 'chromium-headless-shell'),
  ]);
  expect(shellCandidates({ env: { PATH: '/a' }, ownPath: '/own/chrome' })).toEqual([
    join('/a', 'chromium-headless-shell'),
  ]);
});

test('a headless shell that is there is taken, and nothing is installed', async () => {
  const folder = folderWith();
  const shell = putProgram(join(folder, 'chromium-headless-shell'));
  const install = vi.fn(async () => {});
  const machine = { ownPath: undefined, isRoot: true, install };
  expect(await ensureHeadlessShell(setupWith({ PATH: folder }), machine)).toBe(shell);
  expect(install).not.toHaveBeenCalled();
});

test('a headless shell is installed from where the Chromium came, and without one there is none', async () => {
  const folder = folderWith();
  const setup = setupWith({ PATH: folder });
  const install = vi.fn(async () => {});
  const asRoot = { ownPath: undefined, isRoot: true, install };
  expect(await ensureHeadlessShell(setup, { ...asRoot, isRoot: false })).toBeUndefined();
  expect(install).not.toHaveBeenCalled();
  expect(await ensureHeadlessShell(setup, asRoot)).toBeUndefined();
  expect(install).toHaveBeenCalledTimes(1);

  const shell = join(folder, 'chromium-headless-shell');
  install.mockImplementation(async () => void putProgram(shell));
  expect(await ensureHeadlessShell(setup, asRoot)).toBe(shell);

  const machine = { node: 'node', isRoot: true };
  const download = shellInstaller({ ...machine, hasOwn: true });
  expect(download?.commands.flat()).toEqual(expect.arrayContaining(['node', '--only-shell']));
  const system = shellInstaller({ ...machine, hasOwn: false });
  expect(system?.commands.flat()).toEqual(
    expect.arrayContaining(['apt-get', 'chromium-headless-shell']),
  );
});

test('the browser that a person named is the one for all tests', async () => {
  const folder = folderWith();
  putProgram(join(folder, 'chromium-headless-shell'));
  const setup = setupWith({ PATH: folder, CALLBOARD_CHROMIUM: '/my/chromium' });
  expect(await ensureHeadlessShell(setup)).toBeUndefined();
});
