import { expect, onTestFinished, test } from 'vitest';
import { startScriptedModel } from './scripted-model.ts';

async function ask(path: string, body: object): Promise<unknown> {
  const model = await startScriptedModel(['first', 'second']);
  onTestFinished(() => model.close());
  const response = await fetch(model.url + path, { method: 'POST', body: JSON.stringify(body) });
  return response.json();
}

const NAMES = ['x_first', 'x_second'];

test('by Messages it calls the first tool, then the second, and ends', async () => {
  const tools = NAMES.map((name) => ({ name }));
  const after = (results: number) => ({
    tools,
    messages: [{ content: 'go' }, { content: Array(results).fill({ type: 'tool_result' }) }],
  });
  const answers = [0, 1, 2].map((results) => ask('/v1/messages', after(results)));
  expect(await Promise.all(answers)).toMatchObject([
    { content: [{ type: 'tool_use', name: 'x_first' }] },
    { content: [{ type: 'tool_use', name: 'x_second' }] },
    { content: [{ type: 'text' }], stop_reason: 'end_turn' },
  ]);
});

test('by Responses it names the namespace of a tool beside it', async () => {
  const tools = [{ name: 'board', tools: NAMES.map((name) => ({ name })) }];
  expect(await ask('/v1/responses', { tools, input: 'go' })).toMatchObject({
    output: [{ type: 'function_call', namespace: 'board', name: 'x_first' }],
  });
});

test('by chat completions it answers a request without tools with a text', async () => {
  const messages = [{ role: 'user', content: 'a title?' }];
  expect(await ask('/v1/chat/completions', { messages })).toMatchObject({
    choices: [{ message: { content: expect.any(String) }, finish_reason: 'stop' }],
  });
});
