/**
 * The thread of one `run_code`: QuickJS in WebAssembly, which has its own memory and
 * nothing of this program but the one function that posts text. It can be ended at any
 * moment.
 */
import { parentPort, workerData } from 'node:worker_threads';
import variant from '@jitl/quickjs-wasmfile-release-sync';
import { newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core';
import { type CodeReply, type CodeRequest, codeRequestSchema } from './run-code-message.ts';

const MAX_STACK_BYTES = 256 * 1024;
const MAX_ERROR_CHARS = 2_000;
const POST_EACH_MS = 100;

/** Defines `console`, and gives the function that runs the program; takes the host's away before. */
const PRELUDE = `(() => {
  const { stringify } = JSON;
  const toText = String;
  const { send } = globalThis;
  delete globalThis.send;
  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return toText(value);
    try { return stringify(value) ?? toText(value); } catch { return toText(value); }
  };
  const log = (...values) => send('log', values.map(shown).join(' '));
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };
  return (program, input) => {
    program(input).then((value) => send('result', stringify(value) ?? 'null'))
      .catch((error) => send('error', error instanceof Error ? error + '' : shown(error)));
  };
})()`;

const request = codeRequestSchema.parse(workerData);
parentPort?.postMessage(await run(request));

/** Gives how it ended, the first of what the program says of that. */
async function run(request: CodeRequest): Promise<CodeReply> {
  const { code, input, memoryBytes, runMs, maxResultChars } = request;
  const quickjs = await newQuickJSWASMModuleFromVariant(variant);
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(memoryBytes);
  runtime.setMaxStackSize(MAX_STACK_BYTES);
  const end = performance.now() + runMs;
  const isOver = () => performance.now() > end;
  const lines = createLines(request.maxLogChars);
  runtime.setInterruptHandler(() => {
    lines.post();
    return isOver();
  });
  const vm = runtime.newContext();
  let ended: CodeReply | undefined;
  const send = vm.newFunction('send', (kind, text) => {
    const type = vm.getString(kind);
    if (type === 'log') {
      lines.add(() => vm.getString(text));
    } else if (type === 'result') {
      ended ??= toResult(vm.getString(text), maxResultChars);
    } else {
      ended ??= { type: 'error', text: vm.getString(text).slice(0, MAX_ERROR_CHARS) };
    }
  });
  vm.setProp(vm.global, 'send', send);
  const program = `${PRELUDE}(async (input) => {\n${code}\n}, JSON.parse(${JSON.stringify(input)}))`;
  const evaluated = vm.evalCode(program, 'program.js', { type: 'global' });
  const failed = evaluated.error ?? runtime.executePendingJobs().error;
  lines.post(true);
  // A program that ends in time has a result; an error may be that of the interruption.
  if (ended?.type === 'result') return ended;
  if (isOver()) return { type: 'error', text: `The program ran longer than ${runMs} ms.` };
  if (ended) return ended;
  if (!failed) return { type: 'error', text: 'The program waits for something that never comes.' };
  return { type: 'error', text: toMessage(vm.dump(failed)) };
}

/** Lines of `console`, which are posted together: a program may write thousands in no time. */
function createLines(room: number) {
  let left = room;
  let waiting: string[] = [];
  let nextAt = 0;
  const post = (isLast = false) => {
    const now = performance.now();
    if (waiting.length === 0 || (now < nextAt && !isLast)) return;
    nextAt = now + POST_EACH_MS;
    parentPort?.postMessage({ type: 'log', lines: waiting } satisfies CodeReply);
    waiting = [];
  };
  return {
    post,
    add(read: () => string) {
      if (left <= 0) return;
      const line = read().slice(0, left);
      left -= line.length + 1;
      waiting.push(line);
      post();
    },
  };
}

function toResult(text: string, maxChars: number): CodeReply {
  if (text.length <= maxChars) return { type: 'result', text };
  const message = `The result has ${text.length} characters as JSON, of at most ${maxChars}.`;
  return { type: 'error', text: message };
}

/** QuickJS gives the parts of an error, or nothing where no memory was left for that. */
function toMessage(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error).slice(0, MAX_ERROR_CHARS);
  const {
    name = 'Error',
    message = 'no more is known of it',
  }: { name?: unknown; message?: unknown } = error;
  return `${name}: ${message}`.slice(0, MAX_ERROR_CHARS);
}
