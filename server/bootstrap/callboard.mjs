#!/usr/bin/env node
/**
 * The program `callboard` of the npm package. It needs nothing but Node's own modules and runs on
 * Node 20: it finds the Node that Callboard runs on, and starts the built server or the built
 * command line with it, in the caller's folder.
 */
import { join } from 'node:path';
import { ensurePackagedNode } from './ensure-node.mjs';
import { ROOT } from './project.mjs';
import { runChild } from './run-child.mjs';
import { QUIET_NODE, runBuiltServer } from './run-server.mjs';

const CLI = join(ROOT, 'dist', 'cli.mjs');

const [command, ...rest] = process.argv.slice(2);
process.exitCode = await main(process.argv.slice(2));

/** Without a command it serves, so that `npx callboard` is enough. @param {string[]} args */
async function main(args) {
  const setup = await ensurePackagedNode();
  if ('problem' in setup) {
    process.stderr.write(`callboard: ${setup.problem}\n`);
    return 1;
  }
  const started = argsOfStart();
  const cwd = process.cwd();
  if (started !== undefined) {
    return runBuiltServer(setup, { openBrowser: true, args: started, cwd });
  }
  const { node, env } = setup;
  return (await runChild({ command: node, args: [QUIET_NODE, CLI, ...args], env, cwd })).code;
}

/** Gives the arguments of the server; undefined for another command. `start --help` is the command line's. */
function argsOfStart() {
  const isStart = command === undefined || command === 'start';
  const isOption = command?.startsWith('-') && !isAbout(command);
  if (!isStart && !isOption) return undefined;
  const args = isOption ? [command ?? '', ...rest] : rest;
  return args.some(isAbout) ? undefined : args;
}

/** @param {string} argument */
function isAbout(argument) {
  return ['--help', '-h', '--version', '-V'].includes(argument);
}
