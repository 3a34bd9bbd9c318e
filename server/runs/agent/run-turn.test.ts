import { describe, expect, test } from 'vitest';
import type { Script } from '../../testing/scripted-openai.ts';
import type { FakeTool } from './testing/fakes.ts';
import {
  echo,
  gate,
  inOrder,
  MODELS,
  modelNameOf,
  notices,
  partsOf,
  setupTurns,
  texts,
} from './testing/setup-turns.ts';

describe.each(MODELS)('over %s', (model) => {
  test('[AL1] text is streamed and the turn ends', async () => {
    const { turn, openai } = await setupTurns({ model, script: () => ({ text: 'Hello there.' }) });
    const run = await turn('Hi');
    expect(run).toMatchObject({ status: 'idle', step: 0, error: null, model });
    expect(run.messages.map(({ role, status }) => [role, status])).toEqual([
      ['user', 'done'],
      ['assistant', 'done'],
    ]);
    expect(texts(partsOf(run))).toEqual(['Hi', 'Hello there.']);
    expect(openai.requests[0]?.body).toMatchObject({ model: modelNameOf(model), stream: true });
    if (model.startsWith('openai:')) expect(openai.requests[0]?.body.store).toBe(false);
  });

  test('[AL1] a tool is called, its result told under the id that the model gave it, the answer given', async () => {
    const script = inOrder(
      { text: 'Let me see.', calls: [{ name: 'demo_echo', args: { text: 'x' } }] },
      { text: 'It said echo x.' },
    );
    const { turn, openai, calls } = await setupTurns({ model, script, tools: [echo] });
    const run = await turn('echo x');
    expect(run.messages.map((message) => message.parts.map((part) => part.type))).toEqual([
      ['text'],
      ['text', 'tool_call'],
      ['text'],
    ]);
    expect(openai.requests[0]?.toolNames).toEqual(['demo_echo']);
    expect(openai.requests[1]?.toolResults).toEqual([{ id: 'call_1', text: 'echo x' }]);
    expect(calls.records.size).toBe(1);
    expect(JSON.stringify(openai.requests[1]?.body)).toContain('Let me see.');
  });

  test('[AL2] E11: parallel calls run at once and their results go back in call order', async () => {
    const both = gate();
    let running = 0;
    const tool = (name: string, first: boolean): FakeTool => ({
      name,
      run: async () => {
        running += 1;
        if (running === 2) both.resolve();
        await both.promise;
        // The first call ends last.
        if (first) await new Promise((resolve) => setImmediate(resolve));
        return { output: name };
      },
    });
    const script = inOrder(
      {
        calls: [
          { name: 'a', args: {} },
          { name: 'b', args: {} },
        ],
      },
      { text: 'done' },
    );
    const { turn, openai } = await setupTurns({
      model,
      script,
      tools: [tool('a', true), tool('b', false)],
    });
    await turn('both');
    expect(openai.requests[1]?.toolResults).toEqual([
      { id: 'call_1', text: 'a' },
      { id: 'call_2', text: 'b' },
    ]);
  });

  test('[AL2] T145: ids of the model that collide or are empty make calls of their own', async () => {
    const script = inOrder(
      {
        calls: [
          { name: 'demo_echo', args: { text: '1' }, id: 'same' },
          { name: 'demo_echo', args: { text: '2' }, id: 'same' },
          { name: 'demo_echo', args: { text: '3' }, id: '' },
        ],
      },
      { text: 'done' },
    );
    const { turn, openai } = await setupTurns({ model, script, tools: [echo] });
    await turn('three');
    // A call with the id of another one begins once its arguments show that it is no copy.
    const results = openai.requests[1]?.toolResults ?? [];
    expect(results.map(({ text }) => text).toSorted()).toEqual(['echo 1', 'echo 2', 'echo 3']);
    expect(results[0]).toEqual({ id: 'same', text: 'echo 1' });
    const ids = openai.requests[1]?.toolResults.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain('');
  });

  test.each(['{"text": nonsense', 'not json at all', '[1,2]', '"x"'])(
    '[AL5] T145: arguments %s become a FAILED call that the model reads about',
    async (args) => {
      const script = inOrder({ calls: [{ name: 'demo_echo', args }] }, { text: 'Sorry.' });
      const { turn, openai, calls } = await setupTurns({ model, script, tools: [echo] });
      const run = await turn('echo');
      expect(run.status).toBe('idle');
      expect(calls.records.get('tc_1')).toMatchObject({
        status: 'FAILED',
        error: { code: 'invalid_args' },
      });
      expect(openai.requests[1]?.toolResults).toHaveLength(1);
      expect(openai.requests[1]?.toolResults[0]).toMatchObject({ id: 'call_1' });
      const published = JSON.parse(openai.requests[1]?.toolResults[0]?.text ?? '');
      expect(published).toMatchObject({ error: { code: 'invalid_args', executed: 'no' } });
    },
  );

  test('[AL3] T117 E7: after the last step there is one answer without tools that says so', async () => {
    const script: Script = ({ toolNames, index }) =>
      toolNames.length > 0
        ? { calls: [{ name: 'demo_echo', args: { text: String(index) } }] }
        : { text: 'I had to stop.' };
    const { turn, openai } = await setupTurns({ model, script, tools: [echo] });
    const run = await turn('loop');
    expect(openai.requests).toHaveLength(11);
    expect(JSON.stringify(openai.requests[10]?.body)).toContain('used all 10 steps');
    expect(run.status).toBe('idle');
    expect(texts(partsOf(run)).at(-1)).toBe('I had to stop.');
    expect(notices(partsOf(run))).toEqual(['step_limit']);
  });

  test('[AL3] a model that calls without being offered tools makes no call', async () => {
    const script = () => ({ text: 'again', calls: [{ name: 'demo_echo', args: { text: 'x' } }] });
    const { turn, calls } = await setupTurns({
      model,
      script,
      tools: [echo],
      agent: { maxSteps: 1 },
    });
    const run = await turn('loop');
    expect(calls.records.size).toBe(1);
    expect(run.status).toBe('idle');
  });
});

describe('the Responses API', () => {
  test('[AL4] a call starts when it is complete, though the step goes on', async () => {
    const rest = gate();
    const started = gate();
    const script = inOrder(
      {
        calls: [
          { name: 'a', args: { x: 1 } },
          { name: 'b', args: { x: 2 } },
        ],
        // In the midst of the second call's arguments.
        stall: { at: 12, until: rest.promise },
      },
      { text: 'done' },
    );
    const tools: FakeTool[] = [
      {
        name: 'a',
        run: () => {
          started.resolve();
          return { output: 1 };
        },
      },
      { name: 'b', run: () => ({ output: 2 }) },
    ];
    const { start, ended, calls } = await setupTurns({ model: 'openai:gpt-4o', script, tools });
    const runId = await start('go');
    await started.promise;
    expect(calls.records.get('tc_2')?.status ?? 'PENDING').toBe('PENDING');
    rest.resolve();
    expect((await ended(runId)).status).toBe('idle');
  });
});

describe('tools', () => {
  test('[AL10] those that cannot be called, or are not of the run, are not offered', async () => {
    const tools = [echo, { ...echo, name: 'other' }, { ...echo, name: 'gone', callable: false }];
    const { start, ended, openai } = await setupTurns({ script: () => ({ text: 'ok' }), tools });
    await ended(await start('go', { tools: ['demo.echo', 'gone'] }));
    expect(openai.requests[0]?.toolNames).toEqual(['demo_echo']);
  });

  test('[AL10] a tool that comes in mid-turn is offered in the next step', async () => {
    const tools: FakeTool[] = [];
    tools.push({
      name: 'plug',
      run: () => {
        tools.push(echo);
        return { output: 'in' };
      },
    });
    const script = inOrder({ calls: [{ name: 'plug', args: { a: 1 } }] }, { text: 'ok' });
    const { turn, openai } = await setupTurns({ script, tools });
    await turn('go');
    expect(openai.requests.map(({ toolNames }) => toolNames)).toEqual([
      ['plug'],
      ['demo_echo', 'plug'],
    ]);
  });
});
