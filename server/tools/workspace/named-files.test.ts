import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { namedFiles } from './shell-tool.ts';

const outer = sharedTempDir();
const root = join(outer, 'work');
execFileSync('mkdir', ['-p', join(root, 'lib'), join(outer, 'work-other')]);
for (const name of ['run.mjs', 'lib/a.mjs', '../outside.mjs', '../work-other/x.mjs']) {
  writeFileSync(join(root, name), `// ${name}`);
}
execFileSync('sh', ['-c', 'mkfifo "$0"', join(root, 'pipe')]);
symlinkSync('lib/a.mjs', join(root, 'link.mjs'));
symlinkSync('pipe', join(root, 'link-to-pipe'));
symlinkSync('/dev/zero', join(root, 'zero'));

const { signal } = new AbortController();
const filesOf = (...argv: string[]) => namedFiles(root, argv, signal);
const namesOf = async (...argv: string[]) =>
  (await filesOf(...argv)).map(({ path, name }) => `${path} ${name}`);

test('[TP8] T77: files of the workspace are found in each spelling that names one', async () => {
  const whole = `${root}/lib/../run.mjs`;
  const argv = [
    'node',
    'run.mjs',
    '--import=lib/a.mjs',
    'if=run.mjs',
    '@run.mjs',
    './link.mjs',
    whole,
  ];
  expect(await namesOf(...argv)).toEqual([
    ...['/argv/1 run.mjs', '/argv/2 lib/a.mjs', '/argv/3 run.mjs', '/argv/4 run.mjs'],
    ...['/argv/5 ./link.mjs', `/argv/6 ${whole}`],
  ]);
  const [file] = await filesOf('node', 'run.mjs');
  const contentHash = hash('sha256', '// run.mjs');
  expect(file).toMatchObject({ hash: `sha256:${contentHash}`, contentHash });
});

test('[TP8] T77: a program that is given by its path is one of them, wherever it lies', async () => {
  expect(await namesOf('./run.mjs')).toEqual(['/argv/0 ./run.mjs']);
  expect(await namesOf('../outside.mjs')).toEqual(['/argv/0 ../outside.mjs']);
  expect(await namesOf('run.mjs')).toEqual([]);
});

test('[TP8] what is no regular file, or lies elsewhere, is not opened', async () => {
  const argv = ['cat', 'lib', 'pipe', 'link-to-pipe', 'zero', 'none', '.', '', 'x'.repeat(10_000)];
  expect(await namesOf(...argv, '../outside.mjs', '../work-other/x.mjs', '/etc/passwd')).toEqual(
    [],
  );
});

test('[TP8] T77: of a file over the limit, and of those over the limit of all, the state is bound', async () => {
  const big = join(root, 'big');
  writeFileSync(big, '');
  truncateSync(big, 16 * 1024 * 1024 + 1);
  const [before] = await filesOf('cat', 'big');
  expect(before?.hash).toMatch(/^state:/);
  expect(before?.contentHash).toBeUndefined();
  expect(await filesOf('cat', 'big')).toEqual([before]);
  writeFileSync(big, 'x', { flag: 'r+' });
  expect(await filesOf('cat', 'big')).not.toEqual([before]);
  truncateSync(big, 16 * 1024 * 1024);
  const kinds = (await filesOf('cat', ...Array<string>(5).fill('big'))).map(
    ({ hash: of }) => of.split(':')[0],
  );
  expect(kinds).toEqual(['sha256', 'sha256', 'sha256', 'sha256', 'state']);
});

test('[TP8] a stop ends the look', async () => {
  const stopped = AbortSignal.abort(new Error('stopped'));
  await expect(namedFiles(root, ['node', 'run.mjs'], stopped)).rejects.toThrow('stopped');
});
