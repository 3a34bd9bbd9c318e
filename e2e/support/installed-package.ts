import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findNpmCli } from '../../server/bootstrap/ensure-node.mjs';

export const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/**
 * The environment of a person's shell: without what an npm that runs these tests says of this
 * project, and without the caller's Callboard and models.
 */
const shellEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(npm_(lifecycle|package|config_local|config_global|command|execpath|config_prefix)|INIT_CWD$|CALLBOARD_|OPENAI_|ANTHROPIC_|GOOGLE_GENERATIVE_)/i.test(
          name,
        ),
    ),
  ),
  NODE_ENV: 'production' as const,
};

function npmCli(): string {
  const found = findNpmCli({ env: process.env, execPath: process.execPath });
  if (found === undefined) throw new Error('npm was not found: install it beside Node');
  return found;
}

/** The project as `npm pack` packs it, once it is built, in a folder of its own with nothing else. */
export async function installPackage() {
  const folder = await mkdtemp(join(tmpdir(), 'callboard-package-'));
  const node = process.execPath;
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const packed = await run(node, [npmCli(), ...pack], { cwd: ROOT, env: shellEnv });
  const [facts] = Object.values(JSON.parse(packed.stdout)) as [PackFacts];
  const app = join(folder, 'app');
  await mkdir(app);
  await writeFile(join(app, 'package.json'), '{}');
  const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--prefix', app];
  const install = ['install', ...quick, join(folder, facts.filename)];
  await run(node, [npmCli(), ...install], { cwd: app, env: shellEnv });
  return {
    folder,
    app,
    installed: join(app, 'node_modules', 'callboard'),
    facts,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

interface PackFacts {
  readonly filename: string;
  /** In bytes, packed. */
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** `npx callboard …`, as a person runs it in their folder. */
function npx(app: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const program = join(dirname(npmCli()), 'npx-cli.js');
  return {
    command: process.execPath,
    args: [program, '--no', 'callboard', ...args],
    cwd: app,
    env: { ...shellEnv, CALLBOARD_PORT: '0', BROWSER: 'none', ...env },
  };
}

/** One command, to its end. */
export async function command(app: string, args: readonly string[], env = {}) {
  const { command, args: line, ...rest } = npx(app, args, env);
  const child = spawn(command, line, { ...rest, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = { out: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    printed.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    printed.errors += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code, ...printed };
}

/** The server, until it has printed its address. `stop` asks npx to end, as a service manager does. */
export async function serve(app: string, env = {}) {
  const { command, args, ...rest } = npx(app, [], env);
  const child = spawn(command, args, { ...rest, stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await addressOf(child);
  return {
    url,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let printed = '';
    const take = (chunk: Buffer) => {
      printed += chunk.toString();
      const url = /Callboard is ready: (\S+)\s/.exec(printed)?.[1];
      if (url !== undefined) found(url);
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.once('exit', (code) => failed(new Error(`It ended with ${code}:\n${printed}`)));
  });
}

/** Each file of a folder with when it changed. */
export async function filesIn(folder: string): Promise<Map<string, number>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return new Map(
    await Promise.all(
      files.map(async (file): Promise<[string, number]> => [file, (await stat(file)).mtimeMs]),
    ),
  );
}

/** The packed files that have a text in them. */
export async function filesWith(
  installed: string,
  { files }: PackFacts,
  text: string,
): Promise<string[]> {
  const found: string[] = [];
  for (const { path } of files) {
    if ((await readFile(join(installed, path))).includes(text)) found.push(path);
  }
  return found;
}

/** The compiler says this of a file of another project that has the package installed. */
export async function compile(app: string, source: string): Promise<string> {
  for (const one of ['@types', 'csstype', 'undici-types']) {
    const target = join(app, 'node_modules', one);
    await symlink(join(ROOT, 'node_modules', one), target).catch((error: unknown) => {
      // The types are of a package that the installed ones brought.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
  }
  await writeFile(join(app, 'consumer.mts'), source);
  const strict = ['--strict', '--noEmit', '--target', 'es2024', '--module', 'nodenext'];
  const libraries = ['--lib', 'es2024,dom', '--types', 'node', '--preserveSymlinks'];
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, ...strict, ...libraries, 'consumer.mts'];
  const ended = await run(process.execPath, args, { cwd: app }).catch((error: unknown) => error);
  return ended instanceof Error && 'stdout' in ended ? String(ended.stdout) : '';
}
