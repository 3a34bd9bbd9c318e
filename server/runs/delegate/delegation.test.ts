import { expect, test } from 'vitest';
import { childRunOf } from '#lib/protocol/child-run';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { NO_BUDGET } from '../agent/spending.ts';
import { delegate, helper, type Script, setupDelegation } from './testing/setup-delegation.ts';

const DONE = { text: 'Done.' };
const FX = { calls: [{ name: 'fx_effect', args: { of: 'x' } }] };

/** The parent delegates once, and then answers. */
const delegating =
  (child: Script, ...agents: string[]): Script =>
  (asked) => {
    if (asked.model !== 'boss') return child(asked);
    if (asked.index > 0) return DONE;
    return { calls: (agents.length === 0 ? ['helper'] : agents).map((name) => delegate(name)) };
  };

/** A child that makes one call, and then answers. */
const worker: Script = ({ index, model }) => (index === 0 ? FX : { text: `${model} is done` });

/** What the model was offered as `delegate`. */
function offered(request: { body: Record<string, unknown> } | undefined) {
  const tools = request?.body.tools as { function: Record<string, unknown> }[] | undefined;
  const one = tools?.find(({ function: { name } }) => name === 'delegate')?.function;
  const schema = one?.parameters as
    | { properties: { agent: { enum?: string[]; const?: string } } }
    | undefined;
  const { agent } = schema?.properties ?? {};
  return one && { description: String(one.description), agents: agent?.enum ?? [agent?.const] };
}

test('[DE2] E8: a sub-agent works in two steps of its own, and its last answer is the result of the call', async () => {
  const agents = { helper: { ...helper, prompt: 'You are careful.' } };
  const { turn, openai, callsOf, runs, effects } = await setupDelegation({
    script: delegating(worker),
    agents,
  });
  const run = await turn();
  expect(run.status).toBe('idle');
  expect(openai.requests.map(({ body }) => body.model)).toEqual([
    ...['boss', 'helper', 'helper', 'boss'],
  ]);
  expect(openai.requests.at(-1)?.toolResults.map(({ text }) => text)).toEqual(['helper is done']);
  expect(JSON.stringify(openai.requests[1]?.body)).toContain('You are careful.');
  expect(JSON.stringify(openai.requests[0]?.body)).not.toContain('You are careful.');
  const [call, ...others] = await callsOf('delegate');
  expect(others).toEqual([]);
  expect(call).toMatchObject({ status: 'SUCCEEDED', depth: 0, parentCallId: null });
  expect(call?.card).toMatchObject({ status: 'SUCCESS' });
  const child = await runs.get(childRunOf(call?.id ?? ''));
  expect(child?.parent).toEqual({
    ...{ run_id: run.run_id, call_id: call?.id, agent: 'helper', depth: 1 },
  });
  const [below] = await callsOf('fx.effect');
  expect(below).toMatchObject({
    ...{ runId: child?.run_id, parentCallId: call?.id, depth: 1, ownerToken: null },
    card: { parent_call_id: call?.id },
  });
  expect(effects).toEqual(['x']);
});

test('[DE11] a sub-agent’s run is in no list, is read by its id, and takes no message', async () => {
  const { turn, runs, callsOf } = await setupDelegation({ script: delegating(worker) });
  const run = await turn();
  expect((await runs.list({ limit: 10 })).runs.map(({ run_id }) => run_id)).toEqual([run.run_id]);
  const id = childRunOf((await callsOf('delegate'))[0]?.id ?? '');
  expect(await runs.get(id)).toMatchObject({ run_id: id, status: 'idle' });
  expect(await runs.send(id, { input: 'And?' })).toMatchObject({ ok: false, code: 'conflict' });
});

test('[DE1] a model is offered those sub-agents that it can have now, and no tool where there are none', async () => {
  const agents = {
    helper,
    thinker: { tools: [] },
    lost: { tools: ['gone.*'] },
    elsewhere: { ...helper, model: 'anthropic:claude-x' },
  };
  const { turn, openai } = await setupDelegation({ script: () => DONE, agents });
  await turn();
  const tool = offered(openai.requests[0]);
  expect(tool?.agents).toEqual(['helper', 'thinker']);
  expect(tool?.description).toContain('- helper: The helper');
  expect(tool?.description).not.toContain('elsewhere');
  await turn('Go', { tools: ['delegate', 'fx.hold'] });
  expect(offered(openai.requests[1])?.agents).toEqual(['helper', 'thinker']);
  const other = await setupDelegation({ script: () => DONE, agents: { lost: agents.lost } });
  const { run_id: lostRun } = await other.turn();
  expect(offered(other.openai.requests[0])).toBeUndefined();
  expect(await other.runs.tools(lostRun)).toContainEqual(
    expect.objectContaining({
      ...{ name: 'delegate', offer: 'unavailable' },
      reason: 'lost cannot work now: none of its tools is here.',
    }),
  );
  const none = await setupDelegation({ script: () => DONE, agents: {} });
  expect(none.registry.list(FIRST_OPERATOR).map(({ name }) => name)).not.toContain('delegate');
});

test('[DE3] a sub-agent has no tool that the run does not have', async () => {
  const agents = { helper: { tools: ['*'] } };
  const { turn, openai, callsOf, runs } = await setupDelegation({
    script: delegating(worker),
    agents,
  });
  await turn('Go', { tools: ['delegate', 'fx.hold'] });
  expect(openai.requests[1]?.toolNames).toEqual(['fx_hold']);
  const [call] = await callsOf('fx_effect');
  expect(call).toMatchObject({ status: 'FAILED', error: { reason: 'not_offered' } });
  const child = await runs.get(childRunOf((await callsOf('delegate'))[0]?.id ?? ''));
  expect(child?.tools).toEqual(['fx.hold', 'delegate']);
});

/** Each sub-agent delegates to the next; what it was offered is in the request. */
const chain =
  (...names: string[]): Script =>
  ({ model, index }) => {
    const next = names[names.indexOf(model) + 1];
    return index === 0 && next !== undefined ? { calls: [delegate(next)] } : { text: `${model}!` };
  };

test('[DE4] (T85) a third level of delegation fails before it starts, and the others go on', async () => {
  const all = { tools: ['delegate', 'fx.*'] };
  const made = await setupDelegation({
    script: chain('boss', 'one', 'two', 'three'),
    agents: { one: all, two: all, three: all },
  });
  const run = await made.turn();
  expect(run.status).toBe('idle');
  const calls = await made.callsOf('delegate');
  expect(calls.map(({ depth, status }) => [depth, status])).toEqual([
    ...[
      [0, 'SUCCEEDED'],
      [1, 'SUCCEEDED'],
      [2, 'FAILED'],
    ],
  ]);
  // The deepest is not even offered the tool.
  expect(offered(made.openai.requests[2])).toBeUndefined();
});

test('[DE4] T151: depth and cycle are errors of the call, also where its model was not offered it', async () => {
  const hold = { calls: [{ name: 'fx_hold', args: {} }] };
  const all = { tools: ['delegate', 'fx.*'] };
  const made = await setupDelegation({
    script: ({ model, index }) => {
      if (model === 'two') return hold;
      const next = model === 'boss' ? 'one' : 'two';
      return index === 0 ? { calls: [delegate(next)] } : DONE;
    },
    agents: { one: all, two: all, three: all },
  });
  const runId = await made.start();
  await expect.poll(async () => (await made.callsOf('fx.hold')).length).toBe(1);
  const [first, second] = await made.callsOf('delegate');
  const invoke = async (inCall: string | undefined, agent: string) => {
    const outcome = await made.calls.invoke({
      ...{ principal: FIRST_OPERATOR, tool: 'delegate', runId: childRunOf(inCall ?? '') },
      args: { agent, task: 'More' },
    });
    if (!outcome.ok) throw new Error(outcome.message);
    return made.calls.wait(outcome.call.id, 30_000);
  };
  expect((await invoke(second?.id, 'three'))?.error).toMatchObject({
    ...{ code: 'tool_error', executed: 'no' },
    message: expect.stringContaining('Max delegation depth reached (2/2)'),
  });
  expect((await invoke(first?.id, 'one'))?.error).toMatchObject({
    ...{ code: 'tool_error', executed: 'no' },
    message: expect.stringContaining('never delegates to itself'),
  });
  expect(offered(made.openai.requests[1])?.agents).toEqual(['two', 'three']);
  await made.runs.cancel(runId);
});

test('[DE10] a sub-agent that fails is a failed call, and the turn goes on', async () => {
  const { turn, openai, callsOf } = await setupDelegation({
    script: delegating(() => ({ status: 401, error: { message: 'no' } })),
  });
  expect((await turn()).status).toBe('idle');
  const [call] = await callsOf('delegate');
  expect(call).toMatchObject({ status: 'FAILED', error: { code: 'tool_error' } });
  expect(call?.error?.message).toContain('helper failed');
  expect(openai.requests.at(-1)?.body.model).toBe('boss');
});

test('[DE10] a sub-agent that says nothing is a failed call', async () => {
  const { turn, callsOf } = await setupDelegation({ script: delegating(() => ({ text: '' })) });
  expect((await turn()).status).toBe('idle');
  expect((await callsOf('delegate'))[0]?.error?.message).toContain('without an answer');
});

test('[DE6] (T85) ten sub-agents at once spend the calls of the turn that they work for', async () => {
  const names = Array.from({ length: 10 }, (_, at) => `a${at}`);
  const agents = Object.fromEntries(names.map((name) => [name, helper]));
  const { turn, effects, callsOf } = await setupDelegation({
    script: delegating(worker, ...names),
    agents,
    budget: { calls: 14 },
  });
  expect((await turn()).status).toBe('idle');
  expect((await callsOf('delegate')).map(({ status }) => status)).toEqual(
    names.map(() => 'SUCCEEDED'),
  );
  // Ten calls of the turn itself leave four.
  expect(effects).toHaveLength(4);
});

test('[DE6] a sub-agent has a budget of its own, and tokens count for the turn above', async () => {
  const usage = { input: 60, output: 40, reasoning: 0, cached: 0 };
  const script: Script = (asked) => ({ ...delegating(worker)(asked), usage });
  const own = await setupDelegation({
    script: delegating(() => FX),
    agents: { helper: { ...helper, budget: { ...NO_BUDGET, calls: 2 } } },
  });
  await own.turn();
  expect(own.effects).toHaveLength(2);
  const { turn, openai } = await setupDelegation({ script, budget: { tokens: 200 } });
  const run = await turn();
  // One request of each takes the 200: the next of each is its last answer, without tools.
  expect(openai.requests.map(({ toolNames }) => toolNames.length > 0)).toEqual([
    ...[true, true, false, false],
  ]);
  expect(JSON.stringify(run.messages)).toContain('budget_tokens');
});

test('[DE7] an eleventh sub-agent at a time is refused', async () => {
  const names = Array.from({ length: 11 }, (_, at) => `a${at}`);
  const agents = Object.fromEntries(names.map((name) => [name, helper]));
  const hold = { calls: [{ name: 'fx_hold', args: {} }] };
  const made = await setupDelegation({ script: delegating(() => hold, ...names), agents });
  const runId = await made.start();
  await expect.poll(async () => (await made.callsOf('fx.hold')).length).toBe(10);
  const refused = (await made.callsOf('delegate')).filter(({ status }) => status === 'FAILED');
  expect(refused).toMatchObject([{ error: { code: 'tool_error', executed: 'no' } }]);
  await made.runs.cancel(runId);
});
