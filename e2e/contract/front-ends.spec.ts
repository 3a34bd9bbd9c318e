import { HttpAgent } from '@ag-ui/client';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';
import { type Callboard, startCallboard } from '../start-callboard.ts';
import { configFile } from '../support/config-file.ts';
import { finalCall } from './kit/calls.ts';
import { expect, test } from './kit/contract-test.ts';
import { asToken, makeToken, revokeToken } from './kit/tokens.ts';
import { reader } from './kit/tool-client.ts';

const config = { openai_api: { enabled: true } };

/** A page that speaks AG-UI, with the checks of its client. */
function frontEnd({ url, token }: Callboard) {
  const agent = new HttpAgent({
    ...{ url: `${url}/ag-ui`, threadId: 'shopping' },
    headers: { authorization: `Bearer ${token}` },
  });
  const types: string[] = [];
  agent.subscribe({ onEvent: ({ event }) => void types.push(event.type) });
  return { agent, types };
}

test('[AG1] [AG3] a page of AG-UI reaches a connected client, and finds its thread after kill -9', async ({
  connect,
  startServer,
}) => {
  const board = await startServer();
  const shop = await connect.client(board, { tools: [reader('shop.look')] });
  const { agent, types } = frontEnd(board);
  agent.addMessage({ id: 'mine', role: 'user', content: 'shop.look' });
  const over = agent.runAgent();
  const { id } = await shop.request();
  shop.succeed(id, 'three red shoes');
  await over;
  expect(types.at(-1)).toBe('RUN_FINISHED');
  const result = agent.messages.find(({ role }) => role === 'tool');
  expect(result).toMatchObject({ toolCallId: id, content: 'three red shoes' });
  await board.stop('SIGKILL');
  const { dataDir, token } = board;
  const again = await startCallboard({ dataDir, token });
  try {
    const back = frontEnd(again);
    await back.agent.runAgent();
    expect(back.types).toEqual([
      ...['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'ACTIVITY_SNAPSHOT', 'RUN_FINISHED'],
    ]);
    expect(back.agent.messages).toEqual(expect.arrayContaining(agent.messages));
  } finally {
    await again.stop();
  }
});

test('[OA1] [OA3] a program of OpenAI is answered with what its token may call, where that is turned on', async ({
  connect,
  startServer,
}, testInfo) => {
  const env = { CALLBOARD_CONFIG: await configFile(testInfo, config) };
  const board = await startServer({ env });
  const shop = await connect.client(board, { tools: [reader('shop.look'), reader('till.open')] });
  const secret = await makeToken(board, { kind: 'agent', name: 'chat', tools: ['shop.*'] });
  const { url, token } = asToken(board, secret);
  const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: token }).chat('callboard');
  const asked = generateText({ model, prompt: 'shop.look' });
  const { id } = await shop.request();
  shop.succeed(id, 'three red shoes');
  expect((await asked).text).toContain('> `shop.look`: `three red shoes`');
  const { text } = await generateText({ model, prompt: 'till.open' });
  expect(text).not.toContain('> `till.open`');
});

const SAID = [{ id: 'mine', role: 'user', content: 'shop.look' }];
const WAYS_IN: readonly (readonly [path: string, body: object])[] = [
  ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'shop_look' } }],
  ['/ag-ui', { threadId: 't', runId: 'r', messages: SAID, tools: [], context: [] }],
  ['/v1/chat/completions', { model: 'callboard', stream: true, messages: SAID }],
  ['/v1/chat/completions', { model: 'callboard', messages: SAID }],
  ['/v1/responses', { model: 'callboard', stream: true, input: 'shop.look' }],
];

/** All that came of an answer until it ended, or its connection did. */
async function wholeOrCut(
  { url, token }: Pick<Callboard, 'url' | 'token'>,
  [path, body]: (typeof WAYS_IN)[number],
): Promise<{ text: string; cut: boolean }> {
  let text = '';
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
      },
      body: JSON.stringify(body),
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { text, cut: false };
  } catch {
    return { text, cut: true };
  }
}

test('[AU33] a token that is revoked while its call runs gets no result, whichever way it came in', async ({
  connect,
  startServer,
}, testInfo) => {
  const board = await startServer({
    env: { CALLBOARD_CONFIG: await configFile(testInfo, config) },
  });
  const shop = await connect.client(board, { tools: [reader('shop.look')] });
  for (const [at, way] of WAYS_IN.entries()) {
    const token = await makeToken(board, { kind: 'agent', name: `agent-${at}`, tools: ['shop.*'] });
    const answer = wholeOrCut(asToken(board, token), way);
    const { id } = await shop.request();
    expect((await revokeToken(board, token.id)).status).toBe(200);
    const cancel = await shop.next('tool_call_cancel', (one) => one.id === id);
    expect(cancel.reason).toContain('revoked');
    shop.succeed(id, 'three red shoes');
    const { text, cut } = await answer;
    expect({ cut, text: text.includes('three red shoes') }, way[0]).toEqual({
      cut: true,
      text: false,
    });
    // The call is on the record all the same.
    expect(await finalCall(board, id), way[0]).toMatchObject({ status: 'SUCCEEDED' });
  }
});
