import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Asked, cli, emptyFolder, scriptedServer, wireCall } from '../testing/setup-cli.ts';

const T = 1_800_000_000;
const run = (id: string, at: number) => ({
  ...{ run_id: id, title: id, status: 'idle', model: null, tools: null, step: 0, max_steps: 1 },
  ...{ error: null, created_at: at, updated_at: at },
});
const message = (id: string) => ({
  ...{ message_id: id, run_id: 'run_1', role: 'user', parts: [], status: 'done', created_at: T },
});
const call = (id: string, at: number, more: object = {}) =>
  wireCall({ tool_call_id: id, created_at: at, ...more });

const pageOf = ({ path }: Asked) => new URLSearchParams(path.split('?')[1]).get('cursor');

const attachments = [{ blob_id: 'blob_1', media_type: 'text/plain', size: 2 }];
const server = () =>
  scriptedServer({
    'GET /v1/runs': (asked) =>
      pageOf(asked) === null
        ? { runs: [run('run_1', T + 9)], next_cursor: 'b' }
        : { runs: [run('run_0', T)], next_cursor: null },
    'GET /v1/runs/run_1/messages': ({ path }) => ({
      run_id: 'run_1',
      ...(path.includes('before=1')
        ? { messages: [message('m1')] }
        : { messages: [message('m2')], messages_left_out: 1 }),
    }),
    'GET /v1/runs/run_0/messages': () => ({ run_id: 'run_0', messages: [] }),
    'GET /v1/tool_calls': (asked) =>
      pageOf(asked) === null
        ? {
            tool_calls: [call('tc_3', T + 8), call('tc_2', T + 5, { status: 'RUNNING' })],
            next_cursor: 'c',
          }
        : {
            tool_calls: [call('tc_1', T + 1, { truncated: true }), call('tc_0', T)],
            next_cursor: null,
          },
    'GET /v1/tool_calls/tc_1': () => call('tc_1', T + 1, { result: 'whole', attachments }),
    'GET /v1/blobs/blob_1': () => Buffer.from('hi'),
  });

const at = (url: string) => ['--url', url, '--token', 't'];
const idsOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((one) => one.run?.run_id ?? one.message?.message_id ?? one.call.tool_call_id);

test('[CX11] [CX2] all runs with their messages and all calls are written, whole, line by line', async () => {
  const { url } = await server();
  const { out, errors, code } = await cli(['export', '-', ...at(url)]);
  expect(code).toBe(0);
  expect(idsOf(out)).toEqual(['run_1', 'm2', 'm1', 'run_0', 'tc_3', 'tc_2', 'tc_1', 'tc_0']);
  expect(out).toContain('"result":"whole"');
  // From the one that is open now.
  expect(errors).toContain(`The next export: --since ${T + 5}.`);
});

test('[CX11] it goes on from a time, and asks for no page behind it', async () => {
  const { url, asked } = await server();
  const { out } = await cli(['export', '-', '--since', String(T + 6), ...at(url)]);
  expect(idsOf(out)).toEqual(['run_1', 'm2', 'm1', 'tc_3']);
  expect(asked.filter((one) => one.path.includes('cursor=c'))).toEqual([]);
  const iso = await cli([
    'export',
    '-',
    '--since',
    new Date((T + 6) * 1_000).toISOString(),
    ...at(url),
  ]);
  expect(iso.out).toBe(out);
  expect(await cli(['export', '-', '--since', 'monday', ...at(url)])).toMatchObject({ code: 2 });
});

test('[CX11] into a file with the files of results beside it; a file that is there stays', async () => {
  const { url } = await server();
  const cwd = emptyFolder();
  const line = ['export', 'all.ndjson', '--media', 'media', '--json', ...at(url)];
  const { out, code } = await cli(line, { cwd });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    ...{ file: join(cwd, 'all.ndjson'), runs: 2, calls: 4, files: 1, next_since: T + 5 },
  });
  expect(idsOf(readFileSync(join(cwd, 'all.ndjson'), 'utf8'))).toHaveLength(8);
  expect(readFileSync(join(cwd, 'media', 'blob_1.txt'), 'utf8')).toBe('hi');
  writeFileSync(join(cwd, 'kept'), 'mine');
  expect(await cli(['export', 'kept', ...at(url)], { cwd })).toMatchObject({
    ...{ code: 2, errors: expect.stringContaining('exists already; name a file') },
  });
  expect(readFileSync(join(cwd, 'kept'), 'utf8')).toBe('mine');
  expect(readdirSync(cwd).sort()).toEqual(['all.ndjson', 'kept', 'media']);
});
