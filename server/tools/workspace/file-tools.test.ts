import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { isUntrustedResult } from '#lib/call/untrusted-result';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { createStoreOnThisThread } from '../../store/testing/store-on-this-thread.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { FileOrigins } from './file-origins.ts';
import { createFileTools } from './file-tools.ts';
import { createShell } from './shell-tool.ts';

const CANARY = 'canary-7f3a';
const outer = sharedTempDir();
const root = join(outer, 'workspace');
const [read, list, write] = createFileTools({ root, write: true });

const run = (tool: typeof read, args: Record<string, unknown>) => {
  if (!tool) throw new Error('there is no such tool');
  return runBuiltin(tool, args);
};

beforeAll(() => {
  mkdirSync(join(root, 'notes'), { recursive: true });
  mkdirSync(join(outer, 'workspace-evil'));
  writeFileSync(join(outer, 'canary'), CANARY);
  writeFileSync(join(outer, 'workspace-evil/x'), CANARY);
  writeFileSync(join(root, 'notes/a.txt'), 'grün');
  symlinkSync(join(outer, 'canary'), join(root, 'link'));
  symlinkSync(outer, join(root, 'out'));
  symlinkSync(join(root, 'notes'), join(root, 'inner'));
});

test('[TF1] a text file is read, and a long one in parts that break no character', async () => {
  expect(await run(read, { path: 'notes/a.txt' })).toEqual({
    ...{ path: 'notes/a.txt', size: 5, offset: 0, text: 'grün' },
  });
  const long = `${'a'.repeat(256 * 1024 - 1)}€ende`;
  writeFileSync(join(root, 'long.txt'), long);
  const first = (await run(read, { path: 'long.txt' })) as { text: string; next_offset: number };
  const offset = first.next_offset;
  const second = (await run(read, { path: 'long.txt', offset })) as { text: string };
  expect(first.text + second.text).toBe(long);
  expect(second).not.toHaveProperty('next_offset');
});

test('[TF1] what is not text is refused', async () => {
  writeFileSync(join(root, 'binary'), Buffer.from([0xff, 0xfe, 0x00]));
  await expect(run(read, { path: 'binary' })).rejects.toThrow('is not text in UTF-8');
});

test.each([
  ...[
    '..',
    '../canary',
    'notes/../../canary',
    '/etc/passwd',
    '/proc/self/environ',
    'notes/\0a.txt',
  ],
])('[TF2] T101 the path %j is refused by its form', async (path) => {
  for (const tool of [read, list, write]) {
    await expect(run(tool, { path, text: 'x' })).rejects.toThrow('is not a path inside');
  }
});

test.each([
  ...['../canary', 'notes/../../canary', '/proc/self/environ'],
  ...['..%2fcanary', '....//canary', '..\\canary', '~/canary', './../workspace-evil/x', ''],
])('[TF2] T101 %j leads nowhere outside, to read, list or write', async (path) => {
  for (const tool of [read, list]) {
    const outcome = await run(tool, { path }).catch((error: unknown) => error);
    expect(JSON.stringify(outcome), path).not.toContain(CANARY);
    if (path !== '') expect(outcome).toBeInstanceOf(Error);
  }
  await run(write, { path, text: 'overwritten' }).catch(() => undefined);
  expect(readFileSync(join(outer, 'canary'), 'utf8')).toBe(CANARY);
  expect(readFileSync(join(outer, 'workspace-evil/x'), 'utf8')).toBe(CANARY);
  expect(readdirSync(outer).sort()).toEqual(['canary', 'workspace', 'workspace-evil']);
});

test.each(['link', 'out/canary', 'out/workspace-evil/x', 'inner/a.txt'])(
  '[TF3] T102 no symbolic link is followed: %s',
  async (path) => {
    await expect(run(read, { path })).rejects.toThrow(/symbolic link/);
    await expect(run(write, { path, text: 'x' })).rejects.toThrow();
    expect(readFileSync(join(outer, 'canary'), 'utf8')).toBe(CANARY);
  },
);

test('[TF3] T102 a link is listed as one, and a linked folder is not listed', async () => {
  expect(await run(list, {})).toMatchObject({
    entries: expect.arrayContaining([
      { name: 'link', type: 'link' },
      { name: 'notes', type: 'folder' },
    ]),
  });
  await expect(run(list, { path: 'out' })).rejects.toThrow(/symbolic link/);
});

test('[TF3] T102 a folder that is exchanged for a link again and again never leads out', async () => {
  const flips = `
    const fs = require('node:fs');
    const [, folder, out] = process.argv;
    for (;;) {
      try { fs.mkdirSync(folder); fs.writeFileSync(folder + '/canary', 'mine'); fs.rmSync(folder, { recursive: true }); } catch {}
      try { fs.symlinkSync(out, folder); fs.unlinkSync(folder); } catch {}
    }`;
  const { spawn } = await import('node:child_process');
  const flipper = spawn(process.execPath, ['-e', flips, join(root, 'flip'), outer]);
  try {
    const texts = new Set<unknown>();
    for (let round = 0; round < 500; round += 1) {
      const outcome = await run(read, { path: 'flip/canary' }).catch(() => 'refused');
      texts.add(typeof outcome === 'string' ? outcome : JSON.stringify(outcome));
      await run(write, { path: 'flip/canary', text: 'x' }).catch(() => undefined);
    }
    expect([...texts].filter((text) => String(text).includes(CANARY))).toEqual([]);
    expect(readFileSync(join(outer, 'canary'), 'utf8')).toBe(CANARY);
  } finally {
    flipper.kill('SIGKILL');
  }
});

test('[TF4] T103 a pipe or a device is refused and not waited for, a huge file is read in part', async () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(root, 'pipe')]);
  await expect(run(read, { path: 'pipe' })).rejects.toThrow('is not a regular file');
  await expect(run(write, { path: 'pipe', text: 'x' })).rejects.toThrow('is not a regular file');
  writeFileSync(join(root, 'sparse'), '');
  truncateSync(join(root, 'sparse'), 10 * 1024 ** 3);
  const part = (await run(read, { path: 'sparse' })) as { text: string; size: number };
  expect(part.size).toBe(10 * 1024 ** 3);
  expect(part.text).toHaveLength(256 * 1024);
  rmSync(join(root, 'sparse'));
});

test('[TF5] a file is written whole, with its folders, and what is replaced keeps its mode', async () => {
  const path = 'new/deep/run.sh';
  expect(await run(write, { path, text: 'one' })).toEqual({ path, size: 3, replaced: false });
  execFileSync('chmod', ['755', join(root, path)]);
  expect(await run(write, { path, text: 'zwölf' })).toEqual({ path, size: 6, replaced: true });
  expect(readFileSync(join(root, path), 'utf8')).toBe('zwölf');
  expect(statSync(join(root, path)).mode & 0o777).toBe(0o755);
  expect(readdirSync(join(root, 'new/deep'))).toEqual(['run.sh']);
});

test('[TF5] more than a mebibyte is refused, and a folder is not replaced', async () => {
  const text = 'x'.repeat(1024 * 1024 + 1);
  await expect(run(write, { path: 'big', text })).rejects.toThrow('over 1048576 bytes');
  await expect(run(write, { path: 'notes', text: 'x' })).rejects.toThrow('is not a regular file');
});

test('[TF6] a folder with very many entries is listed in part', async () => {
  const many = join(root, 'many');
  mkdirSync(many);
  for (let one = 0; one < 1_001; one += 1) writeFileSync(join(many, `${one}`), '');
  const listed = (await run(list, { path: 'many' })) as { entries: unknown[]; truncated: boolean };
  expect(listed.entries).toHaveLength(1_000);
  expect(listed.truncated).toBe(true);
});

test('[TF7] reading is read-only, writing is destructive, and it is not there when it is not wanted', () => {
  expect([read?.effect, list?.effect, write?.effect]).toEqual(['read', 'read', 'write']);
  expect(write?.annotations).toMatchObject({ destructiveHint: true });
  const names = createFileTools({ root, write: false }).map(({ name }) => name);
  expect(names).toEqual(['file.read', 'file.list']);
});

test('[TF12] T98: a file that was written after content of others was read is theirs for its next reader', async () => {
  const store = createStoreOnThisThread({ file: join(outer, 'origins.db') });
  let others: string | null = null;
  const open = async () => {
    const files = await FileOrigins.open({ store, clock: { now: () => 1 } });
    const origins = { files, othersRead: () => others };
    const env = { PATH: process.env.PATH ?? '' };
    return [
      ...createFileTools({ root, write: true, origins }),
      createShell({ root, env, timeoutMs: 30_000, origins }),
    ];
  };
  const marked = async (tool: typeof read, path: string) => {
    const result = await run(tool, { path });
    return isUntrustedResult({ toolName: tool?.name ?? '', source: 'server', result });
  };
  try {
    const [fileRead, fileList, fileWrite] = await open();
    await run(fileWrite, { path: 'o/own.txt', text: 'mine' });
    others = 'mail.read';
    await run(fileWrite, { path: 'o/./theirs.txt', text: 'obey' });
    expect(await marked(fileRead, 'o/own.txt')).toBe(false);
    expect(await marked(fileRead, 'o//theirs.txt')).toBe(true);
    expect([await marked(fileList, 'o'), await marked(fileList, 'notes')]).toEqual([true, false]);
    const [again, , writeAgain, shell] = await open();
    expect(await marked(again, 'o/theirs.txt')).toBe(true);
    others = null;
    await run(shell, { argv: ['true'] });
    expect(await marked(again, 'o/own.txt')).toBe(true);
    await run(writeAgain, { path: 'o/own.txt', text: 'mine again' });
    expect(await marked(again, 'o/own.txt')).toBe(false);
  } finally {
    await store.close();
  }
});
