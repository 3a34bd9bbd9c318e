import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import type { Prompt } from './command.ts';
import { runCli } from './run-cli.ts';

/** Bundled it lies in `dist`, as a source two folders below the package. */
const PACKAGE_FILES = ['../package.json', '../../package.json'];

function readVersion(): string {
  for (const file of PACKAGE_FILES) {
    const found = readPackage(resolve(import.meta.dirname, file));
    if (found !== undefined) return found;
  }
  return 'unknown';
}

function readPackage(file: string): string | undefined {
  try {
    const facts: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const checked = z
      .object({ name: z.literal('callboard'), version: z.string() })
      .safeParse(facts);
    return checked.data?.version;
  } catch {
    // The other place has it.
    return undefined;
  }
}

/** Questions go to stderr, so that stdout is the command's result alone. */
const prompt: Prompt = {
  isThere: process.stdin.isTTY === true && process.stderr.isTTY === true,
  async ask(question) {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    const closed = new Promise<null>((close) => lines.once('close', () => close(null)));
    try {
      return await Promise.race([lines.question(question), closed]);
    } finally {
      lines.close();
    }
  },
};

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupted.abort(new Error(signal)));
}
// `callboard runs | head`: who reads has enough.
process.stdout.on('error', () => process.exit(0));

process.exitCode = await runCli({
  line: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  terminal: { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, prompt },
  version: readVersion(),
  signal: interrupted.signal,
});
