import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, sharedCallboard, test } from '../contract/kit/contract-test.ts';
import { makeToken } from '../contract/kit/tokens.ts';
import { FIXTURES, offerFixtures } from './fixture-tools.ts';
import { passOn } from './pass-on.ts';

/** The suite asks for these, and a server of tools does not have them; each has its reason. */
const BASELINE = resolve(import.meta.dirname, 'expected-failures.yml');
const PROGRAM = resolve(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);

const board = sharedCallboard();

const TASKS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
];

for (const [name, args] of [
  ['the requirements of 2026-07-28', ['--requirements', '2026-07-28']],
  ['the requirements of 2025-11-25', ['--requirements', '2025-11-25']],
  ...TASKS.map(
    (one) => [one, ['--scenario', one, '--spec-version', '2026-07-28', '--force']] as const,
  ),
] as const) {
  test(`the official conformance suite: ${name}`, async ({ connect }) => {
    test.setTimeout(300_000);
    const token = await makeToken(board(), {
      ...{ kind: 'agent', name: `suite-${name.replaceAll(/\W+/g, '-')}` },
      tools: [...FIXTURES],
    });
    await offerFixtures(connect, board());
    const proxy = await passOn(board(), { token: token.secret });
    const outDir = await mkdtemp(join(tmpdir(), 'callboard-conformance-'));
    try {
      const { code, output } = await run([
        ...['server', '--url', `${proxy.address}/mcp`, ...args],
        ...['--expected-failures', BASELINE, '--output-dir', outDir],
      ]);
      expect(code, output).toBe(0);
    } finally {
      await proxy.close();
      await rm(outDir, { recursive: true, force: true });
    }
  });
}

async function run(args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const add = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const [code] = await once(child, 'close');
  return { code, output };
}
