import { expect, test } from 'vitest';
import { z } from 'zod';
import { createAttemptCompletion } from '../../tools/builtin/ask-human.ts';
import { defineTool } from '../../tools/define-tool.ts';
import {
  delegate,
  helper,
  type Script,
  setupDelegation,
} from '../delegate/testing/setup-delegation.ts';

const complete = (result: unknown = 'All **done**.') => ({
  name: 'attempt_completion',
  args: { result },
});
const FX = { name: 'fx_effect', args: { of: 'x' } };
const tools = [createAttemptCompletion()];

const inOrder =
  (...replies: ReturnType<Script>[]): Script =>
  ({ index }) =>
    replies[index] ?? { text: 'Asked once too often.' };

async function play(script: Script, more: object = {}) {
  const made = await setupDelegation({ script, tools, ...more });
  const run = await made.turn();
  const last = run.messages.at(-1)?.parts;
  const asked = made.openai.requests.length;
  return { ...made, run, last, asked };
}

test('[AL160] attempt_completion ends the turn with its result, and the model is asked nothing more', async () => {
  const { run, last, asked, callsOf } = await play(inOrder({ calls: [complete()] }));
  expect([run.status, last, asked]).toEqual([
    ...['idle', [{ type: 'text', text: 'All **done**.' }], 1],
  ]);
  expect(await callsOf('attempt_completion')).toMatchObject([
    { status: 'SUCCEEDED', result: 'The task is completed.', card: { result: 'All **done**.' } },
  ]);
});

test.each([[[FX, complete()]], [[complete(), FX]]])(
  '[AL160] beside another call it is refused, that one runs, and the turn goes on: %j',
  async (calls) => {
    const { last, asked, callsOf, effects } = await play(
      inOrder({ calls }, { calls: [complete()] }),
    );
    expect([effects, asked, last]).toEqual([['x'], 2, [{ type: 'text', text: 'All **done**.' }]]);
    const made = await callsOf('attempt_completion');
    expect(made.map(({ status, error }) => [status, error?.reason, error?.executed])).toEqual([
      ['FAILED', 'not_alone', 'no'],
      ['SUCCEEDED', undefined, undefined],
    ]);
  },
);

test('[AL160] two at once are refused, and one without its result fails: the model reads why', async () => {
  const { asked, callsOf, openai } = await play(
    inOrder(
      { calls: [complete('a'), complete('b')] },
      { calls: [complete(null)] },
      { calls: [complete()] },
    ),
  );
  const made = await callsOf('attempt_completion');
  expect(made.map(({ error }) => error?.reason ?? error?.code)).toEqual([
    ...['not_alone', 'not_alone', 'invalid_args', undefined],
  ]);
  expect(asked).toBe(3);
  expect(JSON.stringify(openai.requests[1]?.body)).toContain('other calls came with it');
});

test('[AL160] a person’s next message begins a turn as after any answer', async () => {
  const made = await play(inOrder({ calls: [complete()] }, { text: 'Gladly.' }));
  const { run_id: runId } = made.run;
  await made.runs.send(runId, { input: 'Thanks' });
  const run = await made.ended(runId);
  expect(run.messages.at(-1)?.parts).toEqual([{ type: 'text', text: 'Gladly.' }]);
  const sent = JSON.stringify(made.openai.requests[1]?.body);
  expect(sent).toContain('All **done**.');
});

test('[AL160] [DE2] a sub-agent’s result is that of its call', async () => {
  const script: Script = ({ model, index }) => {
    if (model !== 'boss') return { calls: [complete('Found it.')] };
    return index === 0 ? { calls: [delegate('helper')] } : { text: 'Good.' };
  };
  const agents = { helper: { ...helper, tools: ['attempt_completion'] } };
  const { callsOf } = await play(script, { agents });
  expect((await callsOf('delegate'))[0]?.result).toBe('Found it.');
});

test('[AL160] one that a restart cut ends the turn once it is done, and the model is not asked again', async () => {
  const finish = (run: () => Promise<{ output: string; display: string }>) =>
    defineTool({
      ...{ name: 'fx.finish', displayName: 'Finish', description: 'Ends the turn' },
      ...{ args: z.object({}), effect: 'read', endsTurn: true, timeoutMs: 60_000, run },
    });
  const script: Script = () => ({ calls: [{ name: 'fx_finish', args: {} }] });
  const never = finish(() => new Promise(() => undefined));
  const before = await setupDelegation({ script, tools: [never] });
  const runId = await before.start();
  const isRunning = async () => (await before.callsOf('fx.finish')).map(({ status }) => status);
  await expect.poll(isRunning).toEqual(['RUNNING']);
  await before.close();
  const done = finish(async () => ({ output: 'ended', display: 'All done.' }));
  const after = await setupDelegation({ script, tools: [done], dir: before.dir });
  const run = await after.ended(runId);
  expect(run.messages.at(-1)?.parts).toEqual([{ type: 'text', text: 'All done.' }]);
  expect(after.openai.requests).toEqual([]);
});
