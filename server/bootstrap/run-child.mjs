import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { ROOT } from './project.mjs';

/** These signals end the launcher; a lost terminal (HUP) means the same as being asked. */
export const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** A child has five seconds to end in order (contract, section 3); then it is ended. */
const LAST_RESORT_MS = 6_000;

let wasToldOnce = false;

/** Says that the launcher was asked to end while a child ran; what is left is not wanted then. */
export const wasTold = () => wasToldOnce;

/**
 * Runs one program to its end and passes on to it what the launcher is told. Arguments go to the
 * program as they are: no shell is between.
 *
 * @param {object} child
 * @param {string} child.command
 * @param {readonly string[]} child.args
 * @param {import('./project.mjs').Environment} child.env
 * @param {string} child.cwd
 * @param {'show' | 'keep' | 'channel'} [child.output] 'keep' holds the output back and returns it;
 *   'channel' shows it and gives the child an IPC channel, whose closing tells it that we are gone
 * @param {AbortSignal} [child.stopOn] asks the child to end
 * @returns {Promise<{ code: number, output: string, told: boolean }>} `code` as a shell would
 *   report it; `told` when the launcher itself was asked to end
 */
export function runChild({ command, args, env, cwd, output = 'show', stopOn }) {
  return new Promise((resolve) => {
    const environment = /** @type {NodeJS.ProcessEnv} */ (env);
    const child = spawn(command, args, { env: environment, cwd, stdio: stdioFor(output) });
    const kept = /** @type {Buffer[]} */ ([]);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (data) => kept.push(data));
    }
    const passing = passOnStop(child, stopOn);
    /** @param {number} code @param {string} [problem] */
    const finish = (code, problem = '') =>
      resolve({ code, output: Buffer.concat(kept).toString() + problem, told: passing.end() });
    child.once('error', (error) => finish(127, `Could not run ${command}: ${error.message}`));
    child.once('close', (code, signal) => finish(code ?? 128 + signalNumber(signal)));
  });
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {AbortSignal | undefined} stopOn
 */
function passOnStop(child, stopOn) {
  let told = false;
  let lastResort = /** @type {NodeJS.Timeout | undefined} */ (undefined);

  /** @param {NodeJS.Signals} signal */
  const stop = (signal) => {
    // Windows has no signal that a program could handle; there the closed channel says it.
    if (process.platform === 'win32' && child.connected) child.disconnect();
    else child.kill(signal);
    lastResort ??= setTimeout(() => child.kill('SIGKILL'), LAST_RESORT_MS).unref();
  };
  /** @param {NodeJS.Signals} signal */
  const tell = (signal) => {
    told = true;
    wasToldOnce = true;
    stop(signal);
  };
  const stopQuietly = () => stop('SIGTERM');
  for (const signal of SIGNALS) process.on(signal, tell);
  const unwatch = watchAncestors(() => tell('SIGTERM'));
  stopOn?.addEventListener('abort', stopQuietly);

  return {
    /** Ends the passing on; says whether the launcher was told to end. */
    end() {
      for (const signal of SIGNALS) process.off(signal, tell);
      unwatch();
      stopOn?.removeEventListener('abort', stopQuietly);
      clearTimeout(lastResort);
      return told;
    },
  };
}

/**
 * @param {'show' | 'keep' | 'channel'} output
 * @returns {import('node:child_process').StdioOptions}
 */
function stdioFor(output) {
  if (output === 'keep') return ['ignore', 'pipe', 'pipe'];
  return output === 'channel' ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit';
}

/** @param {NodeJS.Signals | null} signal */
const signalNumber = (signal) => (signal === null ? 0 : constants.signals[signal]);

/**
 * Starts a program as `program --version`, or as it is said. One may be there and not start: it may lack a library of
 * the system, or be made for another one.
 *
 * @param {string} command a path, or a name to look for on the PATH of `env`
 * @param {import('./project.mjs').Environment} env
 * @param {readonly string[]} [args]
 * @returns {Promise<import('./project.mjs').Problem>} the reason, in one line
 */
export async function whyNotStarting(command, env, args = ['--version']) {
  const { code, output } = await runChild({ command, args, env, cwd: ROOT, output: 'keep' });
  if (code === 0) return undefined;
  return output.trim().split('\n')[0] || `${command} ended with ${code}`;
}

/** npm dies of a signal without telling what it started, so the launcher looks for itself. */
const LOOK_MS = 500;

/**
 * Calls `onGone` once when the npm that started the launcher is gone; returns its undo.
 *
 * Only under npm: who starts the launcher by hand may well want it to outlive the shell (nohup, a
 * service).
 *
 * @param {() => void} onGone
 * @returns {() => void}
 */
export function watchAncestors(onGone) {
  if (!process.env.npm_lifecycle_event) return () => {};
  const before = ancestors();
  const timer = setInterval(() => {
    if (ancestors() === before) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Our parent and its parent. Between npm and us is a shell on Linux, which lives on when npm is
 * killed; elsewhere the shell gives its place to us, and the parent is npm itself.
 */
function ancestors() {
  const parent = process.ppid;
  if (process.platform !== 'linux') return `${parent}`;
  try {
    // `pid (name) state ppid …`; a name may hold spaces and brackets, so from the last one on.
    const stat = readFileSync(`/proc/${parent}/stat`, 'utf8');
    return `${parent} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]}`;
  } catch {
    // It went between the two looks; the next parent is another.
    return `${process.ppid} gone`;
  }
}
