import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { tempDir } from '../../lib/testing/temp-dir.ts';
import { CHROMIUM, ensureProgram, ensurePrograms } from './machine.mjs';

/** A folder of programs by name, and an environment whose PATH has it first. */
function setup(programs: Record<string, string>) {
  const folder = tempDir();
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const PATH = [folder, '/bin', '/usr/bin'].join(delimiter);
  return { folder, env: { PATH, FOLDER: folder } };
}

const tool = {
  names: ['first-cc', 'second-cc'],
  packages: ['package-of-cc'],
  purpose: 'a test',
} as const;
/** An apt-get that installs the second program. */
const APT =
  'test "$1" = install || exit 0\nprintf "#!/bin/sh\\n" > "$FOLDER/second-cc"\nchmod 755 "$FOLDER/second-cc"';
const missing = { problem: 'first-cc or second-cc is needed for a test; install it.' };

test('the first that starts is taken, own files before the PATH, and nothing is installed', async () => {
  const { env, folder } = setup({
    'first-cc': 'exit 1',
    'second-cc': 'exit 0',
    'own-cc': 'exit 0',
    'apt-get': 'exit 1',
  });
  mkdirSync(join(folder, 'a-folder'));
  const take = (own?: string) =>
    ensureProgram(own ? { ...tool, own: () => [join(folder, own)] } : tool, { env });
  expect(await take()).toEqual({ path: join(folder, 'second-cc') });
  expect(await take('own-cc')).toEqual({ path: join(folder, 'own-cc') });
  expect(await take('a-folder')).toEqual({ path: join(folder, 'second-cc') });
});

test('one that is not there is installed where the machine may be changed', async () => {
  const { env, folder } = setup({ 'apt-get': APT });
  expect(await ensureProgram(tool, { env, mayInstall: false })).toEqual(missing);
  expect(await ensureProgram(tool, { env, mayInstall: true })).toEqual({
    path: join(folder, 'second-cc'),
  });
});

test('one that cannot be installed is named in one line', async () => {
  const { env } = setup({ 'apt-get': 'exit 100' });
  expect(await ensureProgram(tool, { env, mayInstall: true })).toEqual(missing);
});

test('the browser that a person named is taken; a name that leads nowhere is told, and nothing is installed', async () => {
  const { folder } = setup({ 'my-browser': 'exit 0' });
  const named = (name: string) =>
    ensureProgram(CHROMIUM, { env: { CALLBOARD_CHROMIUM: join(folder, name) } });
  expect(await named('my-browser')).toEqual({ path: join(folder, 'my-browser') });
  expect(await named('nothing')).toEqual({
    problem: expect.stringMatching(/^CALLBOARD_CHROMIUM is ".*nothing", which is no file/),
  });
});

test('tests learn where a program is, and a stage what is missing; an optional one is not', async () => {
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => printed.mockRestore());
  const { env, folder } = setup({ 'second-cc': 'exit 0', 'apt-get': 'exit 1' });
  const absent = { names: ['absent-cc'], packages: [], purpose: 'a test' } as const;
  const found = await ensurePrograms(
    { node: process.execPath, env, npmCli: undefined },
    {
      compiler: { ...tool, variable: 'THE_CC' },
      absent,
      optional: { ...absent, isOptional: true },
    },
  );
  expect(found.missing).toEqual(['absent']);
  expect(found.setup.env).toEqual({ ...env, THE_CC: join(folder, 'second-cc') });
});
