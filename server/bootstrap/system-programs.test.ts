import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ensureProgram } from './system-programs.mjs';

/** A folder of programs by name, and an environment whose PATH has it first. */
function setup(programs: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'programs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const put = (name: string, script: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  for (const [name, script] of Object.entries(programs)) put(name, script);
  return { env: { PATH: [folder, '/bin', '/usr/bin'].join(delimiter), FOLDER: folder } };
}

const tool = {
  names: ['first-cc', 'second-cc'],
  packages: ['package-of-cc'],
  purpose: 'a test',
} as const;
/** An apt-get that installs the second program. */
const APT =
  'test "$1" = install || exit 0\nprintf "#!/bin/sh\\n" > "$FOLDER/second-cc"\nchmod 755 "$FOLDER/second-cc"';

test('the first of the names that starts is taken, and nothing is installed', async () => {
  const { env } = setup({ 'first-cc': 'exit 1', 'second-cc': 'exit 0', 'apt-get': 'exit 1' });
  expect(await ensureProgram(tool, { env, mayInstall: true })).toEqual({ name: 'second-cc' });
});

test('one that is not there is installed where the machine may be changed', async () => {
  const { env } = setup({ 'apt-get': APT });
  const missing = { problem: 'first-cc or second-cc is needed for a test; install it.' };
  expect(await ensureProgram(tool, { env, mayInstall: false })).toEqual(missing);
  expect(await ensureProgram(tool, { env, mayInstall: true })).toEqual({ name: 'second-cc' });
});

test('one that cannot be installed is named in one line', async () => {
  const { env } = setup({ 'apt-get': 'exit 100' });
  expect(await ensureProgram(tool, { env, mayInstall: true })).toEqual({
    problem: 'first-cc or second-cc is needed for a test; install it.',
  });
});
