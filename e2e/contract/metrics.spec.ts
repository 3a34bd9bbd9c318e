import { spawnSync } from 'node:child_process';
import { get } from './kit/ask.ts';
import { finalCall, invoke } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';

const board = sharedCallboard();

/** A row of the format: a name, labels, a number. */
const ROW =
  /^[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? -?[0-9.e+-]+$/;

test('what became of calls is counted, in text that Prometheus reads', async ({ connect }) => {
  const client = await connect.client(board(), { tools: ['measured'] });
  const ok = await invoke(board(), 'measured');
  client.succeed((await client.request()).id, 'x');
  await finalCall(board(), ok);
  const bad = await invoke(board(), 'measured');
  client.fail((await client.request()).id, 'It failed');
  await finalCall(board(), bad);
  const { text } = await get(board(), '/metrics');
  for (const row of [
    'callboard_tool_calls_total{tool="measured",source="client",outcome="ok"} 1',
    'callboard_tool_calls_total{tool="measured",source="client",outcome="tool_error"} 1',
    'callboard_tool_call_duration_seconds_count{source="client"} 2',
    'callboard_tool_call_phase_seconds_count{phase="execute"} 2',
    'callboard_clients{kind="program"} 1',
    'callboard_open_calls 0',
    'callboard_http_requests_total{route="/v1/tools/:name/invoke",status="202"} 2',
  ]) {
    expect(text).toContain(`${row}\n`);
  }
  expect(text).toMatch(/^callboard_store_commit_seconds_count [1-9]/m);
  expect(text).not.toContain('callboard_traces');
  const rows = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const row of rows) expect(row).toMatch(ROW);
  const judge = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  // Only where Prometheus is installed: the package is not fetched for a test.
  test.info().annotations.push({ type: 'promtool', description: judge.error ? 'none' : 'asked' });
  if (!judge.error) expect([judge.status, judge.stderr, judge.stdout]).toEqual([0, '', '']);
});
