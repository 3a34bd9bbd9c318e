import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, ToolError } from './define-tool.ts';
import { toProvidedTool } from './own-tools.ts';
import { runBuiltin } from './testing/run-builtin.ts';

const facts = {
  name: 'demo.tool',
  displayName: 'Demo',
  description: 'Does something',
  args: z.object({ n: z.number().default(1) }),
  effect: 'write',
  timeoutMs: 1_000,
} as const;

/** Runs that end when the test says so. */
function createHeldRuns() {
  const begun: { end(): void; readonly n: number }[] = [];
  const run = ({ n }: { n: number }) =>
    new Promise<{ output: number }>((resolve) =>
      begun.push({ n, end: () => resolve({ output: n }) }),
    );
  return { begun, run };
}

test('[TD2] an output that does not fit is a failed call, and one that does is as the schema makes it', async () => {
  const output = z.object({ sum: z.number() });
  const given = (sum: unknown) =>
    defineTool({ ...facts, output, run: async () => ({ output: { sum, secret: 'x' } }) });
  expect(await runBuiltin(given(3), {})).toEqual({ sum: 3 });
  await expect(runBuiltin(given('3'), {})).rejects.toMatchObject({
    name: 'ToolError',
    code: 'result_invalid',
    executed: 'yes',
    message: expect.stringMatching(/^The result of demo\.tool does not fit: .*sum/s),
  });
});

test('[TD3] one that is stopped while it waits was not run, and leaves its place to the next', async () => {
  const { begun, run } = createHeldRuns();
  const tool = defineTool({ ...facts, concurrency: 1, run });
  const first = runBuiltin(tool, { n: 1 });
  const stopping = new AbortController();
  const second = runBuiltin(tool, { n: 2 }, { signal: stopping.signal });
  const third = runBuiltin(tool, { n: 3 });
  stopping.abort(new ToolError('enough'));
  await expect(second).rejects.toMatchObject({
    executed: 'no',
    message: expect.stringContaining('waited for its turn'),
  });
  begun[0]?.end();
  expect(await first).toBe(1);
  await vi.waitFor(() => expect(begun).toHaveLength(2));
  begun[1]?.end();
  expect(await third).toBe(3);
});

test('[TD3] one waits no longer than its tool may take, whatever its caller would wait', async () => {
  const { begun, run } = createHeldRuns();
  const tool = defineTool({ ...facts, concurrency: 1, timeoutMs: 20, run });
  const first = runBuiltin(tool, { n: 1 });
  await expect(runBuiltin(tool, { n: 2 })).rejects.toMatchObject({
    executed: 'no',
    message: expect.stringContaining('waited for its turn'),
  });
  begun[0]?.end();
  expect(await first).toBe(1);
});

test('[TD3] of one owner 32 wait at most, and the calls of another have their turn', async () => {
  const { begun, run } = createHeldRuns();
  const tool = defineTool({ ...facts, concurrency: 1, timeoutMs: 60_000, run });
  const taken = Array.from({ length: 33 }, (_, n) => runBuiltin(tool, { n }));
  await expect(runBuiltin(tool, { n: 99 })).rejects.toMatchObject({ executed: 'no' });
  const other = runBuiltin(tool, { n: 100 }, { ownerToken: 'tok_other' });
  for (let ended = 0; ended < 34; ended += 1) {
    await vi.waitFor(() => expect(begun).toHaveLength(ended + 1));
    begun[ended]?.end();
    if (ended === 2) expect(await other).toBe(100);
  }
  expect((await Promise.all(taken)).length).toBe(33);
});

/** A tool with state that notes what becomes of each of its instances. */
function createStateful(run: (signal: AbortSignal) => Promise<{ output: unknown }>) {
  const notes: string[] = [];
  let count = 0;
  const tool = defineTool({
    ...facts,
    create() {
      count += 1;
      const name = `instance ${count}`;
      return {
        run: (_args, { signal }) => {
          notes.push(`${name} runs`);
          return run(signal);
        },
        async dispose() {
          notes.push(`${name} is disposed`);
        },
      };
    },
  });
  return { tool, notes };
}

test('[TD4] a tool with state has one instance for each call, disposed when that ends', async () => {
  const { tool, notes } = createStateful(async () => ({ output: 1 }));
  await runBuiltin(tool, {});
  await runBuiltin(tool, {});
  expect(notes).toEqual([
    ...['instance 1 runs', 'instance 1 is disposed'],
    ...['instance 2 runs', 'instance 2 is disposed'],
  ]);
});

test('[TD4] the instance of a call that throws is disposed as well', async () => {
  const { tool, notes } = createStateful(() => Promise.reject(new ToolError('broken')));
  await expect(runBuiltin(tool, {})).rejects.toThrow('broken');
  expect(notes).toEqual(['instance 1 runs', 'instance 1 is disposed']);
});

test('[TD4] the instance of a run that goes on after its abort is disposed a second later, once', async () => {
  vi.useFakeTimers();
  try {
    const held = Promise.withResolvers<{ output: unknown }>();
    const { tool, notes } = createStateful(() => held.promise);
    const stopping = new AbortController();
    const result = runBuiltin(tool, {}, { signal: stopping.signal });
    await vi.waitFor(() => expect(notes).toEqual(['instance 1 runs']));
    stopping.abort();
    expect(notes).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(notes).toEqual(['instance 1 runs', 'instance 1 is disposed']);
    held.resolve({ output: 'late' });
    await result;
    expect(notes).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test('[TD6] hints of the tool stand beside those that follow from its effect', () => {
  const annotations = { destructiveHint: true, openWorldHint: true };
  const tool = defineTool({ ...facts, annotations, run: async () => ({ output: 1 }) });
  expect(toProvidedTool(tool).annotations).toEqual({ readOnlyHint: false, ...annotations });
});
