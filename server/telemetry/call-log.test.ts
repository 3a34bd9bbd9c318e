import { expect, test } from 'vitest';
import { changed, sampleCall, sampleProvider } from '#lib/call/testing/sample-call';
import type { LogFields } from '../base/logger.ts';
import { logCall } from './call-parts.ts';

function logged() {
  const lines: { line: string; fields: LogFields }[] = [];
  const debug = (line: string, fields: LogFields) => void lines.push({ line, fields });
  return { lines, log: { debug } };
}

test('[LG3] each change of state is one line with the ids, and none of what it was given or gave', () => {
  const { lines, log } = logged();
  const queued = sampleCall({ args: { text: 'canary' } });
  const granted = changed(queued, {
    status: 'RUNNING',
    phase: 'granted',
    provider: sampleProvider,
  });
  const ended = changed(granted, {
    status: 'FAILED',
    phase: null,
    result: 'canary',
    completedAt: queued.createdAt + 250,
    error: { code: 'tool_error', message: 'canary', executed: 'yes' },
  });
  logCall(log, queued, undefined);
  logCall(log, granted, queued);
  logCall(log, changed(granted, { version: 9 }), granted);
  logCall(log, ended, granted);
  const ids = { tool_call_id: 'tc_1', run_id: 'run_1', tool: 'echo.text' };
  expect(lines).toMatchObject([
    { line: 'A call goes on', fields: { ...ids, phase: 'queued' } },
    { line: 'A call goes on', fields: { ...ids, phase: 'granted', client_id: 'cl_1', attempt: 2 } },
    {
      line: 'A call has ended',
      fields: { ...ids, status: 'FAILED', error: 'tool_error', ms: 250 },
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain('canary');
});
