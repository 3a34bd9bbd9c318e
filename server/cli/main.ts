import { createInterface } from 'node:readline/promises';
import { readVersion } from '../base/project.ts';
import type { Prompt } from './command.ts';
import { runCli } from './run-cli.ts';

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
