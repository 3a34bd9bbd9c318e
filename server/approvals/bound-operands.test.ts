import { rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { tempDir } from '#lib/testing/temp-dir';
import { operator, type SetupOptions, setupCalls } from '../calls/testing/setup-calls.ts';
import { defineTool, ToolError } from '../tools/define-tool.ts';
import { createShell } from '../tools/workspace/shell-tool.ts';

const asks = () => ({ verdict: 'ask', reason: 'it has effects' }) as const;

async function serve(root: string, options: SetupOptions = {}) {
  const env = { PATH: '/usr/bin:/bin' };
  const shell = createShell({ root, env, timeoutMs: 30_000 });
  const one = await setupCalls({ check: asks, tools: [shell], ...options });
  const decide = (id: string, args?: unknown) =>
    one.calls.decide(id, operator, { decision: 'yes', ...(args !== undefined && { args }) });
  const ended = async (id: string) => (await one.calls.wait(id, 30_000)) ?? one.call(id);
  const asked = (...argv: string[]) => one.invoke('shell', { argv });
  return { ...one, decide, ended, asked };
}

const changed = (name: string) => ({
  status: 'FAILED',
  error: { code: 'denied', reason: 'content_changed', executed: 'no', params: { name } },
});

test('[CA70] T77: a script that is changed after its question is not run by the yes', async () => {
  const root = tempDir();
  const { asked, decide, ended } = await serve(root);
  writeFileSync(join(root, 'run.sh'), 'echo as shown');
  const { id, card } = await asked('sh', 'run.sh');
  expect(card.approval_operands).toEqual({
    first: [{ name: 'run.sh', hash: expect.stringMatching(/^[0-9a-f]{12}$/) }],
    count: 1,
  });
  writeFileSync(join(root, 'run.sh'), 'touch made');
  await decide(id);
  const { error, ...call } = await ended(id);
  expect({ ...call, error }).toMatchObject(changed('run.sh'));
  expect(error?.message).toContain('"run.sh" changed after a person was asked');
  // Asked anew, it is for what is there now.
  writeFileSync(join(root, 'run.sh'), 'ls');
  const again = await asked('sh', 'run.sh');
  await decide(again.id);
  expect(await ended(again.id)).toMatchObject({ result: { stdout: 'run.sh\n' } });
});

test('[CA70] T77: nor is one that is changed while an allowed call waits for its turn', async () => {
  const root = tempDir();
  const { asked, decide, ended, call } = await serve(root);
  writeFileSync(join(root, 'run.sh'), 'echo as shown');
  const waits = 'until [ -e go ]; do sleep 0.05; done';
  const before = [await asked('sh', '-c', waits), await asked('sh', '-c', `${waits}; true`)];
  for (const { id } of before) await decide(id);
  await vi.waitFor(async () => {
    for (const { id } of before) expect((await call(id)).card.tip).toBe('Running sh');
  });
  const { id } = await asked('sh', 'run.sh');
  await decide(id);
  expect((await call(id)).status).toBe('RUNNING');
  writeFileSync(join(root, 'run.sh'), 'touch made');
  writeFileSync(join(root, 'go'), '');
  expect(await ended(id)).toMatchObject(changed('run.sh'));
});

test('[CA70] T77: over a restart a question is for the file as it was when it was asked', async () => {
  const root = tempDir();
  const dir = tempDir();
  writeFileSync(join(root, 'run.sh'), 'echo as shown');
  const env = { PATH: '/usr/bin:/bin' };
  const tools = [createShell({ root, env, timeoutMs: 30_000 })];
  const before = await setupCalls({ check: asks, tools, dir });
  const argv = (text: string) => ({ argv: ['sh', 'run.sh', text] });
  const first = await before.invoke('shell', argv('first'));
  const second = await before.invoke('shell', argv('second'));
  await before.close();

  const { calls, decide, ended } = await serve(root, { dir, tools });
  await calls.recover();
  await decide(first.id);
  expect(await ended(first.id)).toMatchObject({ result: { stdout: 'as shown\n' } });
  writeFileSync(join(root, 'run.sh'), 'touch made');
  await decide(second.id);
  expect(await ended(second.id)).toMatchObject(changed('run.sh'));
});

test('[CA70] T77: what is as it was runs, whenever it was written last', async () => {
  const root = tempDir();
  const { asked, decide, ended } = await serve(root);
  writeFileSync(join(root, 'run.sh'), 'echo as shown');
  const { id } = await asked('sh', './run.sh', 'none.txt');
  writeFileSync(join(root, 'run.sh'), 'echo as shown');
  utimesSync(join(root, 'run.sh'), 1, 1);
  await decide(id);
  expect(await ended(id)).toMatchObject({ result: { stdout: 'as shown\n' } });
});

test('[CA70] T77: a file that comes, goes or is reached by a link counts as one that changed', async () => {
  const root = tempDir();
  const { asked, decide, ended } = await serve(root);
  const made = async (argv: string[], change: () => void) => {
    const { id } = await asked(...argv);
    change();
    await decide(id);
    return ended(id);
  };
  const write = (name: string) => () => writeFileSync(join(root, name), 'touch made');
  expect(await made(['sh', 'late.sh'], write('late.sh'))).toMatchObject(changed('late.sh'));
  const removed = await made(['sh', 'late.sh'], () => rmSync(join(root, 'late.sh')));
  expect(removed).toMatchObject(changed('late.sh'));
  writeFileSync(join(root, 'real.sh'), 'true');
  symlinkSync('real.sh', join(root, 'link.sh'));
  expect(await made(['sh', 'link.sh'], write('real.sh'))).toMatchObject(changed('link.sh'));
});

test('[CA70] T77: edited arguments are bound to their own files, as they are at the yes', async () => {
  const root = tempDir();
  const { asked, decide, ended } = await serve(root);
  writeFileSync(join(root, 'one.sh'), 'echo one');
  writeFileSync(join(root, 'two.sh'), 'echo two');
  const { id } = await asked('sh', 'one.sh');
  writeFileSync(join(root, 'one.sh'), 'echo other');
  await decide(id, { argv: ['sh', 'two.sh'] });
  const call = await ended(id);
  expect(call).toMatchObject({ result: { stdout: 'two\n' } });
  expect(call.card.approval_operands).toMatchObject({ first: [{ name: 'two.sh' }] });
  expect(call.routing.operands).toHaveLength(1);
});

test('[CA70] [CA44] T77: equal calls are one question only while their files are the same', async () => {
  const root = tempDir();
  const { asked, decide, ended, call } = await serve(root);
  writeFileSync(join(root, 'run.sh'), 'echo one');
  const [first, equal] = [await asked('sh', 'run.sh'), await asked('sh', 'run.sh')];
  writeFileSync(join(root, 'run.sh'), 'echo two');
  const other = await asked('sh', 'run.sh');
  expect(equal.card.approval_key).toBe(first.card.approval_key);
  expect(other.card.approval_key).not.toBe(first.card.approval_key);
  await decide(other.id);
  expect(await ended(other.id)).toMatchObject({ result: { stdout: 'two\n' } });
  expect((await call(first.id)).phase).toBe('approval');
  // An edit of one is that of each, with the files of the edit.
  writeFileSync(join(root, 'ok.sh'), 'echo ok');
  await decide(first.id, { argv: ['sh', 'ok.sh'] });
  for (const { id } of [first, equal]) {
    expect(await ended(id)).toMatchObject({ result: { stdout: 'ok\n' } });
  }
});

test('[CA70] [TD12] any tool may bind what its arguments refer to; what cannot be looked at is refused', async () => {
  let lamp = 'off';
  const flip = defineTool({
    name: 'lamp.flip',
    displayName: 'Lamp',
    description: 'Flips a lamp',
    args: z.object({ lamp: z.string() }),
    effect: 'write',
    timeoutMs: 1_000,
    async operands({ lamp: name }) {
      if (name !== 'desk') throw new ToolError(`There is no lamp ${name}`);
      return [{ path: '/lamp', name, hash: lamp }];
    },
    run: async () => ({ output: `it was ${lamp}` }),
  });
  const { invoke, decide, ended } = await serve(tempDir(), { tools: [flip] });
  const { id, card } = await invoke('lamp.flip', { lamp: 'desk' });
  expect(card.approval_operands).toEqual({ first: [{ name: 'desk' }], count: 1 });
  lamp = 'on';
  await decide(id);
  expect(await ended(id)).toMatchObject(changed('desk'));
  const { error } = await invoke('lamp.flip', { lamp: 'attic' });
  expect(error).toMatchObject({ message: 'There is no lamp attic', executed: 'no' });
});

test('[CA70] what no person is asked about is bound to nothing', async () => {
  const root = tempDir();
  writeFileSync(join(root, 'run.sh'), 'echo ran');
  const { asked, ended } = await serve(root, { check: () => ({ verdict: 'allow' }) });
  const { id, routing } = await asked('sh', 'run.sh');
  expect(routing.operands).toBeUndefined();
  expect(await ended(id)).toMatchObject({ result: { stdout: 'ran\n' } });
});
