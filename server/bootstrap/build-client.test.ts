import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sharedTempDir } from '../../lib/testing/temp-dir.ts';
import { bundleClient, emitClientTypes } from './build-client.mjs';
import { packageProgram, ROOT } from './project.mjs';

const dir = sharedTempDir();

const built = await bundleClient(dir);
const gzipped = (name: string) => gzipSync(readFileSync(join(dir, name))).length;

test('[PG12] client.js has less than 20,000 bytes, gzipped, and needs neither zod nor React', () => {
  expect(gzipped('client.js')).toBeLessThan(20_000);
  // Guards the measurement itself: a bundle without the library would be small as well.
  expect(built.get('client.js')).toContain('lib/client/call-runner.ts');
  for (const name of ['client.js', 'client.mjs']) {
    const packages = built.get(name)?.filter((file) => file.startsWith('node_modules/'));
    expect(packages, name).toEqual([]);
  }
});

test('[PG12] the React hook brings no copy of the library', () => {
  expect(built.get('react.mjs')).toEqual(['components/client/use-tool.ts']);
  expect(gzipped('react.mjs')).toBeLessThan(1_000);
  const code = readFileSync(join(dir, 'react.mjs'), 'utf8');
  expect(code).toContain('from"./client.mjs"');
  expect(code).toContain('from"react"');
});

/** What another project writes, with a mistake that its compiler is to find. */
const CONSUMER = `
import { callboard, type PageTool, ToolFailure } from 'callboard/client';
import { createNodeToolClient } from 'callboard/node';
import { useTool } from 'callboard/react';

const tool: PageTool<{ text: string }> = {
  name: 'board.write',
  description: 'Writes a note',
  execute: ({ text }, { signal, requestedBy }) => {
    if (signal.aborted) throw new ToolFailure('cancelled', requestedBy ?? '');
    return text.length;
  },
};
const unregister: () => void = callboard.tool(tool);
export const Board = () => { useTool(tool); return null; };
export const clientId: Promise<string | null> = createNodeToolClient({
  url: '', token: '', name: 'Door', dataDir: '.door',
  tools: [{ name: 'a', description: 'b', parameters: {}, run: () => ({ output: unregister }) }],
}).then((client) => client.clientId.get());
// @ts-expect-error it is no number
callboard.connect({ token: 1 });
`;

test('[PG12] the types of the package are found by a project of its own, and say the same as the code', async () => {
  const project = join(dir, 'project');
  const installed = join(project, 'node_modules', 'callboard');
  mkdirSync(join(installed, 'dist'), { recursive: true });
  const { name, version, type, exports } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  writeFileSync(join(installed, 'package.json'), JSON.stringify({ name, version, type, exports }));
  expect(await emitClientTypes({ node: process.execPath, env: process.env }, dir)).toBeUndefined();
  symlinkSync(dir, join(installed, 'dist', 'client'));
  for (const one of ['zod', 'react', '@types', 'csstype', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', one), join(project, 'node_modules', one));
  }
  writeFileSync(join(project, 'consumer.ts'), CONSUMER);
  const strict = ['--strict', '--noEmit', '--preserveSymlinks', '--target', 'es2024'];
  const how = ['--module', 'nodenext', '--lib', 'es2024,dom', '--types', 'node'];
  const program = [packageProgram('typescript/bin/tsc'), ...strict, ...how, 'consumer.ts'];
  const compile = () => execFileSync(process.execPath, program, { cwd: project, encoding: 'utf8' });
  expect(compile()).toBe('');
});
