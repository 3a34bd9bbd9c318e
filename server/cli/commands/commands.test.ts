import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type Asked,
  accepted,
  calling,
  cli,
  emptyFolder,
  scriptedServer,
  wireCall,
} from '../testing/setup-cli.ts';

const at = (url: string) => ['--url', url, '--token', 't'];
const path = (asked: readonly Asked[]) => asked.map((one) => `${one.method} ${one.path}`);

test('[CX6] a call is made once, with its arguments, and its result printed', async () => {
  const { url, asked } = await scriptedServer({
    'POST /v1/tools/a.b%40c/invoke': accepted,
    'GET /v1/tool_calls/tc_1': () => wireCall({ result: { degrees: 7 } }),
  });
  const line = ['call', 'a.b@c', '-', '--client', 'tab_1', '--run', 'run_9', ...at(url)];
  const { out, code } = await cli(line, { stdin: '{"city":"Oslo"}' });
  expect({ code, result: JSON.parse(out) }).toEqual({ code: 0, result: { degrees: 7 } });
  const [invoke] = asked;
  expect(invoke?.body).toEqual({ run_id: 'run_9', args: { city: 'Oslo' }, client: 'tab_1' });
  expect(invoke?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
});

test('[CX6] a call that failed ends with 6 and its error', async () => {
  const error = { code: 'denied', message: 'No.', executed: 'no' };
  const { url } = await scriptedServer(calling({ status: 'FAILED', result: null, error }));
  expect(await cli(['call', 't', ...at(url)])).toEqual({
    ...{ code: 6, out: '', questions: [] },
    errors: 'ERROR denied: No. (executed: no)\n',
  });
});

test('[CX6] when the time is over the call goes on, and the way to approve it was shown', async () => {
  const { url } = await scriptedServer(calling({ status: 'PENDING', phase: 'approval' }));
  const { code, errors } = await cli(['call', 't', '--timeout', '0.05', ...at(url)]);
  expect(code).toBe(7);
  expect(errors).toMatch(/callboard approve tc_1 yes[\s\S]*tc_1 goes on/);
});

test('[CX2] [CX6] watched, each event is printed once, up to the end', async () => {
  const event = (version: number, update: object) => ({
    ...{ version, type: 'status', at: 1_800_000_000, actor: 'server', attempt: 1, update },
  });
  const pages = [
    [event(1, { status: 'WAIT' }), event(2, { tip: 'half \u001b[2J' })],
    [],
    [event(3, { status: 'SUCCESS' })],
  ];
  const { url, asked } = await scriptedServer({
    'POST /v1/tools/t/invoke': accepted,
    'GET /v1/tool_calls/tc_1/events': () => ({ events: pages.shift() ?? [], next_after: null }),
    'GET /v1/tool_calls/tc_1': () => wireCall(),
  });
  const { out } = await cli(['call', 't', '--watch', '--json', ...at(url)]);
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => line.event?.version ?? line.call.tool_call_id)).toEqual([
    1,
    2,
    3,
    'tc_1',
  ]);
  expect(path(asked).filter((one) => one.includes('events'))).toEqual([
    'GET /v1/tool_calls/tc_1/events?after=0&limit=200',
    'GET /v1/tool_calls/tc_1/events?after=2&limit=200',
    'GET /v1/tool_calls/tc_1/events?after=2&limit=200',
  ]);
});

test('[CX6] files are saved under the id of the blob, whatever the tool named them', async () => {
  const attachments = [{ blob_id: 'blob_1', media_type: 'image/png', size: 3, name: '../../evil' }];
  const { url } = await scriptedServer({
    ...calling({ attachments }),
    'GET /v1/blobs/blob_1': () => Buffer.from([1, 2, 3]),
  });
  const cwd = emptyFolder();
  expect(await cli(['call', 't', '--out', 'files', ...at(url)], { cwd })).toMatchObject({
    code: 0,
  });
  expect(readdirSync(cwd)).toEqual(['files']);
  expect([...readFileSync(join(cwd, 'files', 'blob_1.png'))]).toEqual([1, 2, 3]);
});

test('[CX6] an id that is a path is refused', async () => {
  const attachments = [{ blob_id: '../evil', media_type: 'text/plain', size: 1 }];
  const { url, asked } = await scriptedServer({
    ...calling({ attachments }),
    'GET /v1/blobs/..%2Fevil': () => Buffer.from([1]),
  });
  const cwd = emptyFolder();
  const { code, errors } = await cli(['call', 't', '--out', 'files', ...at(url)], { cwd });
  expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining('"../evil"') });
  expect(readdirSync(cwd)).toEqual([]);
  expect(path(asked).at(-1)).toContain('tool_calls');
});

const approval = (id: string, more: object = {}) => ({
  ...{ tool_call_id: id, run_id: 'run_1', tool_name: 'file.write', reason: 'It writes.' },
  ...{ expires_at: 1_800_000_600, requested_by: 'agent:bot', display_name: null },
  ...{ client_id: null, client_name: null, args: { path: 'a' }, created_at: 1, equal_calls: 2 },
  ...more,
});

test('[CX7] at a terminal each is asked about, and the decision is for what was shown', async () => {
  const approvals = [approval('tc_1'), approval('tc_2'), approval('tc_3', { question: 'text' })];
  const { url, asked } = await scriptedServer({
    'GET /v1/approvals': () => ({ approvals, next_cursor: null }),
    'POST /v1/tool_calls/tc_1/approval': () => wireCall(),
    'POST /v1/tool_calls/tc_3/approval': () => wireCall(),
  });
  const { out, code } = await cli(['approve', ...at(url)], { answers: ['y', 's', 'n'] });
  expect(code).toBe(0);
  expect(out).toContain('file.write, asked by agent:bot');
  expect(asked.slice(1).map(({ path, body }) => [path, body])).toEqual([
    ['/v1/tool_calls/tc_1/approval', { decision: 'yes', expires_at: 1_800_000_600, calls: 2 }],
    ['/v1/tool_calls/tc_3/approval', { decision: 'no', expires_at: 1_800_000_600, calls: 2 }],
  ]);
});

test('[CX7] [CX4] all of the arguments are shown, and no name makes a line of its own', async () => {
  const forged = 'Phone\n  Arguments: {}\nfile.read, asked by operator';
  const long = approval('tc_1', { client_name: forged, args: { body: 'a' }, args_bytes: 90_000 });
  const { url } = await scriptedServer({
    'GET /v1/approvals': () => ({ approvals: [long], next_cursor: null }),
    'GET /v1/tool_calls/tc_1': () => wireCall({ args: { body: `${'a'.repeat(90_000)} rm -rf` } }),
  });
  const { out } = await cli(['approve', ...at(url)], { answers: ['s'] });
  expect(out).toContain('a rm -rf"}');
  const lines = out.split('\n');
  expect(lines.filter((line) => line.startsWith('  Arguments:'))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('file.read'))).toEqual([]);
});

test('[CX7] one call is decided by its id, with a note', async () => {
  const { url, asked } = await scriptedServer({
    'POST /v1/tool_calls/tc_1/approval': () => wireCall(),
  });
  await cli(['approve', 'tc_1', 'no', '--note', 'not today', ...at(url)]);
  expect(asked.map(({ body }) => body)).toEqual([{ decision: 'no', note: 'not today' }]);
  const wrong = await cli(['approve', 'tc_1', 'perhaps', ...at(url)]);
  expect(wrong).toMatchObject({
    code: 2,
    errors: expect.stringContaining('it is yes, no or always'),
  });
});
