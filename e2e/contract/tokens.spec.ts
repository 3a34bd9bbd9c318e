import { z } from 'zod';
import { callsPageSchema } from '../../lib/protocol/rest.ts';
import { runRecordSchema } from '../../lib/protocol/run.ts';
import { tokensPageSchema } from '../../lib/protocol/token.ts';
import type { Callboard } from '../start-callboard.ts';
import { configFile } from '../support/config-file.ts';
import { get, post, recordOf, refusalOf } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { askAsPage, pageSocket, sessionOf } from './kit/sign-in.ts';
import { asToken, decideOverAnyRoute, makeToken, revokeToken } from './kit/tokens.ts';
import { connectClient, reader } from './kit/tool-client.ts';
import { connectWatcher } from './kit/watcher.ts';

const board = sharedCallboard();

let count = 0;
/** A name that no other token of this file has. */
const fresh = (name: string) => {
  count += 1;
  return `${name}-${count}`;
};
const newAgent = async (...tools: string[]) =>
  makeToken(board(), { kind: 'agent', name: fresh('bot'), tools });

/** Why a socket does not open, as a status. */
const refusedSocket = (opening: Promise<unknown>) =>
  opening.then(
    () => 101,
    (error: { status?: number }) => error.status,
  );

test('a token lets in as what it is, its use is written down, and its secret is nowhere else', async () => {
  const bot = await newAgent('calculation.*');
  const asBot = asToken(board(), bot);
  expect((await get(asBot, '/v1/me')).body).toEqual({
    ...{ kind: 'agent', name: bot.name, role: null, client_id: null },
    ...{ tools: ['calculation.*'], token_id: bot.id },
  });
  const vera = await makeToken(board(), { kind: 'operator', name: fresh('vera'), role: 'viewer' });
  const me = await get(asToken(board(), vera), '/v1/me');
  expect(me.body).toMatchObject({ name: vera.name, role: 'viewer', token_id: vera.id });
  const listed = await get(board(), '/v1/tokens?limit=200');
  const { tokens } = tokensPageSchema.parse(listed.body);
  const own = tokens.find(({ id }) => id === bot.id);
  expect(own?.last_used_at).toBeGreaterThan(0);
  const audit = await get(board(), '/v1/audit?act=token_created');
  for (const { text } of [listed, audit]) {
    expect(text).toContain(bot.name);
    expect(text).not.toContain(bot.secret);
  }
});

test('an agent calls what its allow-list has: whole names and families, never parts of words', async ({
  connect,
}) => {
  const program = await connect.client(board(), {
    tools: [reader('file.read'), reader('files.read'), reader('tide.read')],
  });
  const asBot = asToken(board(), await newAgent('calculation.eval', 'file.*'));
  const run_id = fresh('run_allowed');
  const ask = (tool: string) =>
    post(asBot, `/v1/tools/${tool}/invoke`, { run_id, args: { expression: '1' } });
  expect((await ask('calculation.eval')).status).toBe(202);
  expect((await ask('file.read')).status).toBe(202);
  expect((await program.request()).name).toBe('file.read');
  for (const tool of ['files.read', 'tide.read', 'database.query', 'calculation.eval2', 'file']) {
    expect([403, 404], tool).toContain((await ask(tool)).status);
  }
  await program.settled();
  expect(program.all('tool_call_request')).toHaveLength(1);
});

const attachmentsSchema = z.array(z.object({ blob_id: z.string() }));

test('[PO25] T43: a client’s tool with effects waits for a person when an agent or a run calls it, and not for a person who does', async ({
  connect,
}) => {
  const program = await connect.client(board(), { tools: ['winch.turn', reader('winch.look')] });
  const asBot = asToken(board(), await newAgent('winch.*'));
  const run_id = fresh('run_winch');
  await invoke(asBot, 'winch.look', {}, { run_id });
  program.succeed((await program.request()).id, 'up');
  const waits = {
    ...{ status: 'PENDING', phase: 'approval' },
    card: {
      approval_reason:
        'winch.turn is a client’s tool with effects, and no rule of the policy allows it',
      approval_reason_code: 'unknown_effects',
    },
  };
  const byBot = await invoke(asBot, 'winch.turn', {}, { run_id });
  const input = { input: 'Call winch.turn', model: 'rehearsal', tools: ['winch.turn'] };
  const started = await post(board(), '/v1/runs', input);
  const ofRun = `/v1/tool_calls?run_id=${runRecordSchema.parse(started.body).run_id}`;
  const callsOf = async () => callsPageSchema.parse((await get(board(), ofRun)).body).tool_calls;
  await expect.poll(callsOf).toMatchObject([waits]);
  const [inRun] = await callsOf();
  expect(await readCall(board(), byBot)).toMatchObject(waits);
  await program.settled();
  expect(program.all('tool_call_request')).toHaveLength(1);

  const byHand = await invoke(board(), 'winch.turn', {}, { run_id: fresh('run_by_hand') });
  expect((await program.request()).id).toBe(byHand);
  for (const id of [byBot, inRun?.tool_call_id]) {
    await post(board(), `/v1/tool_calls/${id}/approval`, { decision: 'yes' });
    expect((await program.request()).id).toBe(id);
  }
});

test('what is another’s is to an agent as if not there, whatever it asks', async ({ connect }) => {
  const program = await connect.client(board(), { tools: [reader('page.draw')] });
  const [one, other] = [await newAgent('page.draw'), await newAgent('page.draw')];
  const run_id = fresh('run_of_one');
  const asOne = asToken(board(), one);
  const call = await invoke(asOne, 'page.draw', {}, { run_id });
  const data = Buffer.from('drawn').toString('base64');
  program.succeed((await program.request()).id, 'drawn', {
    attachments: [{ media_type: 'text/plain', data, name: 'page.txt' }],
  });
  const record = await finalCall(asOne, call);
  const [blob] = attachmentsSchema.parse(record.attachments);
  const blobPath = `/v1/blobs/${blob?.blob_id}`;
  const reads = [
    ...[`/v1/runs/${run_id}`, `/v1/runs/${run_id}/model_turns`, blobPath],
    ...['', '/events', '/model_output'].map((path) => `/v1/tool_calls/${call}${path}`),
  ];
  const acts = [
    ...[`/v1/runs/${run_id}/messages`, `/v1/runs/${run_id}/cancel`],
    ...[`/v1/tool_calls/${call}/cancel`, `/v1/tool_calls/${call}/retry`],
  ];
  for (const path of reads) expect((await get(asOne, path)).status, path).toBe(200);
  const asOther = asToken(board(), other);
  for (const path of [...reads, `/v1/runs/${run_id}/events`]) {
    expect((await get(asOther, path)).status, path).toBe(404);
  }
  for (const path of acts) {
    const body = path.endsWith('/messages') ? { input: 'hi' } : {};
    expect((await post(asOther, path, body)).status, path).toBe(404);
  }
  const joined = await post(asOther, '/v1/tools/page.draw/invoke', { run_id, args: {} });
  expect(refusalOf(joined)).toMatchObject({ status: 404, code: 'run_not_found' });
  for (const path of ['/v1/runs', '/v1/tool_calls', `/v1/tool_calls?run_id=${run_id}`]) {
    expect((await get(asOther, path)).text, path).not.toContain(run_id);
    expect((await get(asOne, path)).text, path).toContain(run_id);
  }
  // People see all of it.
  for (const path of reads) expect((await get(board(), path)).status, path).toBe(200);
});

test('T76: an agent never approves, answers or extends, over any route and any socket', async ({
  startServer,
  connect,
}, testInfo) => {
  const config = await configFile(testInfo, { policy: { ask: ['gate.open'] } });
  const asking = await startServer({ env: { CALLBOARD_CONFIG: config } });
  const program = await connect.client(asking, { tools: ['gate.open'] });
  const bot = await makeToken(asking, { kind: 'agent', name: 'bot', tools: ['gate.*'] });
  const asBot = asToken(asking, bot);
  const call = await invoke(asBot, 'gate.open', { gate: 1 }, { run_id: 'run_bot' });
  const statuses = await decideOverAnyRoute(asBot, call);
  for (const path of ['approval', 'answer', 'extend']) {
    expect(statuses.get(`POST /v1/tool_calls/{id}/${path}`), path).toBe(403);
  }
  expect(statuses.get('DELETE /v1/approvals/always/{id}')).toBe(403);
  expect(statuses.get('POST /v1/tokens')).toBe(403);
  expect(statuses.get('DELETE /v1/tokens/{id}')).toBe(403);
  expect(statuses.size).toBeGreaterThan(12);
  const signingIn = await post(asking, '/auth/sign-in', { token: bot.secret }, { token: null });
  expect(signingIn.status).toBe(401);
  expect(await refusedSocket(connectClient(asBot))).toBe(403);
  expect(await refusedSocket(connectWatcher(asBot))).toBe(403);
  for (const path of ['/v1/audit', '/v1/tokens', '/v1/approvals/always']) {
    expect((await get(asBot, path)).status, path).toBe(403);
  }
  await program.settled();
  expect(program.all('tool_call_request')).toEqual([]);
  expect(await readCall(asking, call)).toMatchObject({ status: 'PENDING', phase: 'approval' });

  // Neither does a viewer; an operator does, and the record says who.
  const vera = await makeToken(asking, { kind: 'operator', name: 'vera', role: 'viewer' });
  const olga = await makeToken(asking, { kind: 'operator', name: 'olga' });
  const approve = (by: Callboard) =>
    post(by, `/v1/tool_calls/${call}/approval`, { decision: 'yes' });
  expect((await approve(asToken(asking, vera))).status).toBe(403);
  recordOf(await approve(asToken(asking, olga)));
  program.succeed((await program.request()).id, 'open');
  expect((await finalCall(asking, call)).status).toBe('SUCCEEDED');
  const audit = await get(asking, '/v1/audit?actor=operator:olga');
  expect(audit.body).toMatchObject({
    entries: [{ act: 'approval_decided', target: call, token_id: olga.id }],
  });
});

test('a person signs in with a token of their own, and is signed out when it is revoked', async ({
  connect,
}) => {
  const olga = await makeToken(board(), { kind: 'operator', name: fresh('olga'), role: 'viewer' });
  const signedIn = await post(board(), '/auth/sign-in', { token: olga.secret }, { token: null });
  const session = sessionOf(signedIn);
  const me = () => askAsPage(board(), 'GET', '/v1/me', { session });
  expect((await me()).body).toMatchObject({
    ...{ kind: 'operator', name: olga.name, role: 'viewer', token_id: olga.id },
  });
  const run = await askAsPage(board(), 'POST', '/v1/runs', { session, body: { input: 'hi' } });
  expect(run.status).toBe(403);
  const page = pageSocket(board(), session);
  expect(await refusedSocket(connectClient(board(), page))).toBe(403);
  const watcher = await connect.watcher(board(), {}, page);
  await watcher.next('snapshot');
  await revokeToken(board(), olga.id);
  expect((await watcher.closed).code).toBe(4401);
  expect((await me()).status).toBe(401);
  const again = await post(board(), '/auth/sign-in', { token: olga.secret }, { token: null });
  expect(again.status).toBe(401);
});
