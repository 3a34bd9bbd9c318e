import { describe, expect, test } from 'vitest';
import type { FakeTool } from './testing/fakes.ts';
import { echo, inOrder, MODELS, partsOf, setupTurns } from './testing/setup-turns.ts';

/** A tool that counts how often it ran. */
function counted(name: string) {
  const runs: unknown[] = [];
  const tool: FakeTool = {
    name,
    run: (args) => {
      runs.push(args);
      return { output: 'ran' };
    },
  };
  return { tool, runs };
}

const errorsOf = (calls: Awaited<ReturnType<typeof setupTurns>>['calls']) =>
  [...calls.records.values()].map(({ status, error }) => [status, error?.code, error?.executed]);

describe.each(MODELS)('over %s', (model) => {
  test('[AL100] a tool that is there and was not offered to this run does not run', async () => {
    const secret = counted('bank.transfer');
    const script = inOrder(
      { calls: [{ name: 'bank.transfer', args: { amount: 9 } }] },
      { text: 'I may not.' },
    );
    const { start, ended, calls, openai } = await setupTurns({
      model,
      script,
      tools: [echo, secret.tool],
    });
    const run = await ended(await start('transfer', { tools: ['demo.echo'] }));
    expect(secret.runs).toEqual([]);
    expect(errorsOf(calls)).toEqual([['FAILED', 'no_provider', 'no']]);
    expect([...calls.records.values()][0]?.error?.reason).toBe('not_offered');
    expect(openai.requests[1]?.toolResults[0]?.text).toContain('not offered');
    expect(run.status).toBe('idle');
  });

  test('[AL100] a tool that cannot be called now is not called because a model names it', async () => {
    const closed = counted('demo.gone');
    const tools = [echo, { ...closed.tool, callable: false }];
    const script = inOrder({ calls: [{ name: 'demo.gone', args: {} }] }, { text: 'No.' });
    const { turn, calls } = await setupTurns({ model, script, tools });
    await turn('go');
    expect(closed.runs).toEqual([]);
    expect(errorsOf(calls)).toEqual([['FAILED', 'no_provider', 'no']]);
  });

  test.each([
    ...['Demo_Echo', 'demo.echo', 'DEMO-ECHO', 'demoEcho', '"demo_echo"', 'demo_echo()'],
    ...['functions.demo_echo', 'functions.demo_echo:0', 'default_api:demo_echo'],
    ...['tools/demo_echo', 'call:default_api:demo.echo', 'functions_demo_echo'],
    ...[
      '<tool_call>demo_echo',
      'demo_echo<|channel|>commentary',
      'commentary to=functions.demo_echo<|constrain|>json',
    ],
  ])('[AL101] %s means the one offered tool that is spelled so', async (name) => {
    const script = inOrder({ calls: [{ name, args: { text: 'x' } }] }, { text: 'done' });
    const { turn, calls, openai } = await setupTurns({ model, script, tools: [echo] });
    await turn('echo');
    expect([...calls.records.values()]).toMatchObject([
      { toolName: 'demo.echo', status: 'SUCCEEDED' },
    ]);
    expect(openai.requests[1]?.toolResults[0]?.text).toBe('echo x');
  });

  test('[AL101] a namespace that is none of a model’s makes another tool of it', async () => {
    const script = inOrder({ calls: [{ name: 'prod.demo_echo', args: {} }] }, { text: 'No.' });
    const { turn, calls } = await setupTurns({ model, script, tools: [echo] });
    await turn('go');
    expect(errorsOf(calls)).toEqual([['FAILED', 'no_provider', 'no']]);
  });

  test('[AL102] of a tool that is not there the model reads some names that are, and of no URL', async () => {
    const many = Array.from({ length: 60 }, (_, n) => counted(`other.tool${n}`).tool);
    const script = inOrder({ calls: [{ name: 'demo_ecko', args: {} }] }, { text: 'ok' });
    const { turn, openai } = await setupTurns({ model, script, tools: [echo, ...many] });
    await turn('echo');
    const input = openai.requests[1]?.toolResults[0]?.text ?? '';
    expect(input).toContain('demo_echo');
    expect(input).not.toMatch(/GET |\/v1\/|http/);
    expect(input.length).toBeLessThan(1_500);
    expect(input).toContain('"executed":"no"');
  });

  test.each([
    ['empty', ''],
    ['blank', ' \n'],
    ['null', null],
    ['a number', 42],
    ['missing', undefined],
  ])('[AL104] T145: a call named %s fails, the others run, the turn goes on', async (_, name) => {
    const script = inOrder(
      {
        calls: [
          { name, args: { text: 'lost' } },
          { name: 'demo_echo', args: { text: 'x' } },
        ],
      },
      { text: 'I see.' },
    );
    const { turn, calls, openai } = await setupTurns({ model, script, tools: [echo] });
    const run = await turn('go');
    expect(run).toMatchObject({ status: 'idle', error: null });
    expect(openai.requests).toHaveLength(2);
    expect(errorsOf(calls).toSorted()).toEqual([
      ['FAILED', 'no_provider', 'no'],
      ['SUCCEEDED', undefined, undefined],
    ]);
    const input = openai.requests[1]?.toolResults.map(({ text }) => text) ?? [];
    expect(input).toContain('echo x');
    expect(input.join(' ')).toContain('had no name');
  });

  test.each([
    ['odd', 'rm -rf /; \u202e删除 "x"'],
    ['long', 'x'.repeat(20_000)],
    ['of an object', '__proto__'],
  ])('[AL105] a name that is %s fails and goes back in a form that APIs take', async (_, name) => {
    const script = inOrder({ calls: [{ name, args: { a: 1 } }] }, { text: 'ok' });
    const { turn, calls, openai } = await setupTurns({ model, script, tools: [echo] });
    const run = await turn('go');
    expect(run.status).toBe('idle');
    expect(errorsOf(calls)).toEqual([['FAILED', 'no_provider', 'no']]);
    for (const { toolName } of calls.records.values()) {
      expect(toolName.length).toBeLessThanOrEqual(129);
      expect(toolName).not.toContain('\u202e');
    }
    expect(JSON.stringify(openai.requests[1]?.body).length).toBeLessThan(20_000);
  });

  test('[AL106] T145: of a step’s calls the first 32 run, and the others fail and are shown', async () => {
    const busy = counted('demo.busy');
    const script = inOrder(
      { calls: Array.from({ length: 40 }, (_, n) => ({ name: 'demo_busy', args: { n } })) },
      { text: 'done' },
    );
    const { turn, calls, openai } = await setupTurns({ model, script, tools: [busy.tool] });
    const run = await turn('go');
    expect(busy.runs).toEqual(Array.from({ length: 32 }, (_, n) => ({ n })));
    const failed = [...calls.records.values()].filter(({ status }) => status === 'FAILED');
    expect(failed).toHaveLength(8);
    expect(failed[0]).toMatchObject({
      args: { n: 32 },
      error: { code: 'denied', reason: 'too_many_calls', executed: 'no' },
    });
    const shown = partsOf(run).filter(({ type }) => type === 'tool_call');
    expect(shown).toHaveLength(40);
    expect(openai.requests[1]?.toolResults).toHaveLength(40);
    expect(openai.requests[1]?.toolResults[39]?.text).toContain('at most 32 calls');
  });

  test('[AL106] a step of a thousand calls leaves 128 records, and a notice of the rest', async () => {
    const busy = counted('demo.busy');
    const script = inOrder(
      {
        calls: Array.from({ length: 1_000 }, (_, n) => ({ name: 'demo_busy', args: { n } })),
        pieceChars: 100,
      },
      { text: 'done' },
    );
    const { turn, calls } = await setupTurns({ model, script, tools: [busy.tool] });
    const run = await turn('go');
    expect(busy.runs).toHaveLength(32);
    expect(calls.records.size).toBe(128);
    expect(partsOf(run).filter(({ type }) => type === 'notice')).toMatchObject([
      { code: 'calls_left_out', params: { count: 872, limit: 32 } },
    ]);
    expect(run.status).toBe('idle');
  });
});
