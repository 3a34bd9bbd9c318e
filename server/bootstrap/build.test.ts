import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { BUNDLE, isOutsideBuild } from './build.mjs';
import { SERVER } from './project.mjs';

test.each([
  'server/bootstrap',
  'server/testing',
  'server/store/store.contract.ts',
  'lib/a.test.ts',
  'components/card.test.tsx',
  'lib/call/SPEC.md',
  'app/.DS_Store',
])('%s asks for no new build', (path) => expect(isOutsideBuild(path)).toBe(true));

test.each([
  'server/main/main.ts',
  'app/globals.css',
  'lib/i18n/messages-zh.json',
  'components/test-view.tsx',
  'package.json',
])('%s does', (path) => expect(isOutsideBuild(path)).toBe(false));

test('the bundle has what starts the server, the server, the command line, what tools run in and the threads of the store, under the names that are run', () => {
  const built = Object.keys(BUNDLE.entryPoints).map((name) => name + BUNDLE.outExtension['.js']);
  expect(built).toEqual([
    basename(SERVER),
    'main.mjs',
    'cli.mjs',
    'check-worker.mjs',
    'database-worker.mjs',
    'program-starter.mjs',
    'run-code-worker.mjs',
    'read-worker.mjs',
    'write-worker.mjs',
  ]);
});
