import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import recorded from '../../server/doors/clawseed/testing/recorded-frames.json' with {
  type: 'json',
};
import type { Script } from '../../server/testing/scripted-openai.ts';
import type { Callboard } from '../start-callboard.ts';
import { configFile } from '../support/config-file.ts';
import { expect, held, test } from '../support/scripted-run.ts';
import { finalCall } from './kit/calls.ts';
import { type ChatApp, connectChat } from './kit/chat-app.ts';
import { RefusedError } from './kit/socket.ts';
import { asToken, makeToken } from './kit/tokens.ts';

const config = { policy: { unknown_effects: 'allow' } };
const answers: Script = () => ({ text: 'Hello, Pixel.' });
/** Asks for `device_info` first. */
const asksTheDevice: Script = ({ toolResults }) =>
  toolResults.length === 0
    ? { calls: [{ name: 'device_info', args: {} }] }
    : { text: 'It is a Pixel 8.' };

const withTools = async (app: ChatApp) => {
  app.send(recorded.connect);
  app.send(recorded.register_tools);
  await app.next('tools_registered');
};

test('[CLS2] [CLS5] [CLS11] the recorded frames of a talk are answered in ClawSeed’s words', async ({
  startScripted,
}) => {
  const { board } = await startScripted('chat', answers, { config });
  const app = await connectChat(board, { session: recorded.connect.session_id });
  expect(app.ws.protocol).toBe('clawseed.v1');
  expect(await app.next('session_start')).toMatchObject({
    ...{ v: 1, session_id: recorded.connect.session_id, resumed: false, message_count: 0 },
  });
  app.send(recorded.connect);
  expect(await app.next('connected')).toMatchObject({ v: 1, message: 'Connection established' });
  app.send(recorded.message);
  expect(await app.next('title_updated')).toMatchObject({ title: 'What phone is this?' });
  const done = await app.next('done');
  expect(done).toEqual({ type: 'done', full_response: 'Hello, Pixel.' });
  const chunks = app.all('chunk').map(({ content }) => content);
  expect(chunks.join('')).toBe('Hello, Pixel.');
  expect(app.inbox.map(({ type }) => type)).toEqual([
    ...['session_start', 'connected', 'title_updated', ...chunks.map(() => 'chunk'), 'done'],
  ]);
  app.send(recorded.regenerate);
  expect(await app.next('done')).toEqual(done);
});

test('[CLS6] [CLS14] a tool of the app is asked under the one id of its call, and its result comes back', async ({
  startScripted,
}) => {
  const { board, openai } = await startScripted('chat', asksTheDevice, { config });
  const app = await connectChat(board);
  app.send(recorded.connect);
  const hidden = { name: 'calculation.eval', description: 'x', parameters: { type: 'object' } };
  app.send({ ...recorded.register_tools, tools: [...recorded.register_tools.tools, hidden] });
  expect(await app.next('tools_registered')).toMatchObject({
    ...{ count: 3, registered: 2, rejected: [{ name: 'calculation.eval' }] },
  });
  app.send(recorded.get_registered_tools);
  const { tools } = await app.next('registered_tools');
  expect(tools).toHaveLength(2);
  expect(tools).toContainEqual(recorded.register_tools.tools[0]);

  app.send(recorded.message);
  const { id } = await app.text('tool_call_request');
  expect(await app.next('tool_call')).toEqual({
    ...{ type: 'tool_call', id, name: 'device_info', args: {} },
  });
  app.send({ ...recorded.tool_result, id });
  expect(await app.next('result_acknowledged')).toMatchObject({ id, disposition: 'accepted' });
  const { output } = recorded.tool_result;
  expect(await app.next('tool_result')).toEqual({
    ...{ type: 'tool_result', id, name: 'device_info', output, success: true },
  });
  expect(await app.next('done')).toMatchObject({ full_response: 'It is a Pixel 8.' });
  expect(openai.requests[1]?.toolResults[0]?.text).toContain(output);
  app.send({ ...recorded.tool_result, id: 'tc_unknown' });
  expect(await app.next('result_acknowledged')).toMatchObject({
    ...{ id: 'tc_unknown', disposition: 'rejected', code: 'unknown_call' },
  });
});

for (const [name, frame, message] of [
  ['tool_result with success: false', recorded.tool_result_failed, 'Camera permission denied'],
  ['tool_error', recorded.tool_error, 'Camera permission denied'],
  ['tool_error without text', recorded.tool_error_without_text, 'Unknown error'],
] as const) {
  test(`[CLS8] ${name} ends the call at once`, async ({ startScripted }) => {
    const { board } = await startScripted('chat', asksTheDevice, { config });
    const app = await connectChat(board);
    await withTools(app);
    app.send(recorded.message);
    const { id = '' } = await app.text('tool_call_request');
    const start = performance.now();
    app.send({ ...frame, id });
    expect(await app.next('tool_result')).toMatchObject({
      ...{ id, success: false, output: message, error: { code: 'tool_error', message } },
    });
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(await finalCall(board, id)).toMatchObject({
      ...{ status: 'FAILED', error: { code: 'tool_error', message, executed: 'yes' } },
    });
    await app.next('done');
  });
}

/** From the abort to its end; one frame of which the model is not asked again. */
async function abort(app: ChatApp): Promise<number> {
  const start = performance.now();
  app.send(recorded.abort);
  expect(await app.next('abort_ack')).toMatchObject({ status: 'aborted' });
  await app.next('aborted');
  return performance.now() - start;
}

test('[CLS7] an abort in the middle of a call ends the turn within 100 ms, and the call', async ({
  startScripted,
}, testInfo) => {
  const { board, openai } = await startScripted(
    'chat',
    () => ({ calls: [{ name: 'device_info', args: {} }] }),
    { config },
  );
  const app = await connectChat(board);
  await withTools(app);
  app.send(recorded.abort);
  expect(await app.next('abort_ack')).toMatchObject({ status: 'no_active_response' });
  const took: number[] = [];
  let id = '';
  for (let turn = 0; turn < 4; turn += 1) {
    app.send(recorded.message);
    id = (await app.text('tool_call')).id ?? '';
    took.push(await abort(app));
  }
  testInfo.annotations.push({ type: 'ms to aborted', description: took.join(', ') });
  // The others may share their moment with another program of the machine.
  expect(Math.min(...took)).toBeLessThan(100);
  expect(await finalCall(board, id)).toMatchObject({
    ...{ status: 'FAILED', error: { code: 'cancelled' } },
  });
  expect(openai.requests).toHaveLength(4);
  expect(app.all('done')).toEqual([]);
});

test('[CLS7] an abort in the middle of the text ends the turn, and asks the model no more', async ({
  startScripted,
}) => {
  const stall = held();
  const { board, openai } = await startScripted(
    'chat',
    ({ index }) => ({
      ...{ text: `<${index}> and more`, pieceChars: 3 },
      stall: { at: 2, until: stall.until },
    }),
    { config },
  );
  const app = await connectChat(board);
  const took: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    app.send(recorded.message);
    await app.next('chunk', ({ content }) => String(content).startsWith(`<${turn}>`));
    took.push(await abort(app));
  }
  expect(Math.min(...took)).toBeLessThan(100);
  expect(openai.requests).toHaveLength(4);
  stall.release();
});

test('[CLS7] an app that can be asked to stop is, and the call ends as it answers', async ({
  startScripted,
}) => {
  const { board } = await startScripted('chat', asksTheDevice, { config });
  const app = await connectChat(board);
  app.send({ ...recorded.connect, capabilities: ['cancel'] });
  app.send(recorded.register_tools);
  app.send(recorded.message);
  const { id = '' } = await app.text('tool_call_request');
  await abort(app);
  expect(await app.next('tool_call_cancel')).toMatchObject({ id });
  app.send({ ...recorded.tool_error, id });
  expect((await finalCall(board, id)).status).toBe('FAILED');
});

test('[CLS9] [CLS10] a turn goes on without the app, which comes back to it and answers its call', async ({
  startScripted,
}) => {
  const { board } = await startScripted('chat', asksTheDevice, { config });
  const first = await connectChat(board, { session: 'travelling' });
  await withTools(first);
  first.send(recorded.message);
  const { id = '' } = await first.text('tool_call_request');
  await first.vanish();
  const again = await connectChat(board, { session: 'travelling' });
  expect(await again.next('session_start')).toMatchObject({
    ...{ session_id: 'travelling', resumed: true, message_count: 2, name: 'What phone is this?' },
  });
  await again.next('chunk_reset');
  expect(await again.next('tool_call')).toMatchObject({ id, name: 'device_info' });
  await withTools(again);
  again.send({ ...recorded.tool_result, id });
  expect(await again.next('result_acknowledged')).toMatchObject({ id, disposition: 'accepted' });
  expect(await again.next('tool_result')).toMatchObject({ id, success: true });
  await again.next('done');
  expect(await finalCall(board, id)).toMatchObject({ status: 'SUCCEEDED', attempt: 1 });
});

test('[CLS12] two sessions at once get nothing of each other', async ({ startScripted }) => {
  const asked = ({ body }: { body: Record<string, unknown> }) => JSON.stringify(body.messages);
  const { board } = await startScripted(
    'chat',
    (request) => ({ text: asked(request).includes('apples') ? 'Apples.' : 'Pears.' }),
    { config },
  );
  const [one, other] = [
    await connectChat(board, { session: 'one' }),
    await connectChat(board, { session: 'other' }),
  ];
  one.send({ type: 'message', content: 'apples' });
  other.send({ type: 'message', content: 'pears' });
  const dones = await Promise.all([one.next('done'), other.next('done')]);
  expect(dones.map((done) => done.full_response)).toEqual(['Apples.', 'Pears.']);
  expect(JSON.stringify(one.inbox)).not.toMatch(/pears/i);
  expect(JSON.stringify(other.inbox)).not.toMatch(/apples/i);
});

const withoutToken = { token: null, protocols: ['clawseed.v1'] };

test('[HT220] [HT221] the header, then the subprotocol; a token in the address is refused', async ({
  startServer,
}) => {
  const board = await startServer();
  const bearer = ['clawseed.v1', `bearer.${board.token}`];
  const app = await connectChat(board, { token: null, protocols: bearer });
  expect(app.ws.protocol).toBe('clawseed.v1');
  await app.next('session_start');
  const plain = await connectChat(board, { protocols: [] });
  expect(plain.ws.protocol).toBe('');
  await expect(
    connectChat(board, { ...withoutToken, query: `token=${board.token}` }),
  ).rejects.toThrow(new RefusedError(401));
  const refusal = await upgrade(board, '/ws/chat', { authorization: 'Bearer wrong' });
  expect(refusal).toContain('"code":"unauthenticated"');
  expect(refusal).toContain('Unauthorized — provide Authorization header');
  expect(refusal).toContain('?token= is refused');
  const agent = asToken(
    board,
    await makeToken(board, { kind: 'agent', name: 'bot', tools: ['echo'] }),
  );
  await expect(connectChat(agent)).rejects.toThrow(new RefusedError(403));
});

test('[HT221] where the configuration allows it a token may be in the address of this socket alone, and is not logged', async ({
  startServer,
}, testInfo) => {
  const file = await configFile(testInfo, { clawseed: { token_in_url: true } });
  const board = await startServer({ env: { CALLBOARD_CONFIG: file } });
  const query = `token=${encodeURIComponent(board.token)}`;
  const app = await connectChat(board, { ...withoutToken, query });
  await app.next('session_start');
  expect(await upgrade(board, `/ws/client?${query}`)).toContain('401');
  expect(await upgrade(board, `/ws/chat?token=wrong`)).toContain(
    'Unauthorized — provide Authorization header, Sec-WebSocket-Protocol bearer, or ?token= query param"',
  );
  // A credential of the header counts alone, also a wrong one.
  expect(await upgrade(board, `/ws/chat?${query}`, { authorization: 'Bearer wrong' })).toContain(
    '401',
  );
  expect(board.log()).not.toContain(board.token);
});

test('[HT222] switched off there is no such socket, and the refusal names the switch', async ({
  startServer,
}, testInfo) => {
  const file = await configFile(testInfo, { clawseed: { enabled: false } });
  const board = await startServer({ env: { CALLBOARD_CONFIG: file } });
  const answer = await upgrade(board, '/ws/chat', { authorization: `Bearer ${board.token}` });
  expect(answer).toMatch(/^404 .*clawseed/);
});

/** Status and body of a refused upgrade. */
function upgrade(
  board: Callboard,
  path: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const { hostname: host, port } = new URL(board.url);
  const handshake = {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  return new Promise((resolve, reject) => {
    const going = request({
      host,
      port,
      path,
      headers: { ...handshake, ...headers },
      agent: false,
    });
    going.on('error', reject);
    going.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve('101');
    });
    going.on('response', (response) => {
      buffer(response).then((body) => resolve(`${response.statusCode} ${body}`), reject);
    });
    going.end();
  });
}
