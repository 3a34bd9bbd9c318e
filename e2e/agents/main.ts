/**
 * `npm run agents`: Claude Code, Codex, opencode and the MCP Inspector, from npm, against a real
 * server and a scripted model. Writes `docs/interop.md`; ends with 1 when something failed.
 *
 *   npm run agents                    all of them, in a folder that is removed afterwards (1.3 GB)
 *   npm run agents -- codex           one of them; then the page is not written
 *   npm run agents -- --packages DIR  the packages are kept in DIR, and taken from there
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Callboard, startCallboard } from '../start-callboard.ts';
import { AGENTS } from './agents.ts';
import { type Desk, openDesk } from './desk.ts';
import { installPackage } from './packages.ts';
import { type AgentRow, type AgentsReport, problemsOf, toMarkdown } from './report.ts';
import { tryAgent } from './try-agent.ts';
import { tryInspector } from './try-inspector.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs', 'interop.md');
const INSPECTOR = '@modelcontextprotocol/inspector';
const PARTS = [...AGENTS.map(({ program }) => program), 'inspector'] as readonly string[];

const versionSchema = z.object({ version: z.string() });

const { values, positionals: named } = parseArgs({
  options: { packages: { type: 'string' } },
  allowPositionals: true,
});
const unknown = named.find((part) => !PARTS.includes(part));
if (unknown !== undefined) {
  console.error(`There is no "${unknown}": it may be ${PARTS.join(', ')}`);
  process.exit(1);
}

const packages =
  values.packages === undefined
    ? await mkdtemp(join(tmpdir(), 'callboard-packages-'))
    : resolve(values.packages);
try {
  const report = await tryAll(packages, named.length > 0 ? named : PARTS);
  const page = toMarkdown(report);
  if (named.length === 0) await writeFile(PAGE, page);
  console.log(page);
  process.exitCode = problemsOf(report).length > 0 ? 1 : 0;
} finally {
  if (values.packages === undefined) await rm(packages, { recursive: true, force: true });
}
// The desk still waits for calls.
process.exit();

async function tryAll(root: string, parts: readonly string[]): Promise<AgentsReport> {
  const board = await startCallboard();
  const desk = await openDesk(board);
  try {
    const agents = await tryAgents(root, parts, { board, desk });
    const rows = parts.includes('inspector') ? await tryInspector(board) : [];
    return {
      ...{ date: new Date().toISOString().slice(0, 10), callboard: await versionIn(ROOT) },
      ...{ node: process.version, platform: `${platform()} ${arch()}`, agents },
      inspector: {
        package: `${INSPECTOR} ${await versionIn(join(ROOT, 'node_modules', INSPECTOR))}`,
        rows,
      },
    };
  } finally {
    await desk.close();
    await board.remove();
  }
}

/** One after the other: each is the only one that calls the tools. */
async function tryAgents(
  root: string,
  parts: readonly string[],
  to: { board: Callboard; desk: Desk },
): Promise<AgentRow[]> {
  const rows: AgentRow[] = [];
  for (const agent of AGENTS.filter(({ program }) => parts.includes(program))) {
    process.stderr.write(`Installing: ${agent.package} ${agent.version}\n`);
    const programs = await installPackage(root, agent);
    process.stderr.write(`Running: ${agent.title}\n`);
    rows.push(await tryAgent(agent, { ...to, programs }));
  }
  return rows;
}

async function versionIn(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  return versionSchema.parse(JSON.parse(text)).version;
}
