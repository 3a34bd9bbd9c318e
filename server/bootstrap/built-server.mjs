import { problemOfNode } from './node-version.mjs';

// The server is another file: on a Node that lacks a module of it, not even its first line would run.
const problem = problemOfNode(process.versions.node);
if (problem === undefined) {
  await import(new URL('./main.mjs', import.meta.url).href);
} else {
  process.stderr.write(`callboard: ${problem}\n`);
  process.exitCode = 1;
}
