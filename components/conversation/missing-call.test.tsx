// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { createTestWorkbench, InWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { MissingCall } from './missing-call.tsx';

afterEach(cleanup);

async function show(code: string, locale: 'en' | 'zh') {
  const { workbench } = createTestWorkbench(() => ({
    status: 404,
    body: { error: { code, message: 'What the server says.' } },
  }));
  await workbench.older.getState().loadCall('tc_1');
  render(
    <InWorkbench workbench={workbench} locale={locale}>
      <MissingCall runId="run_1" callId="tc_1" />
    </InWorkbench>,
  );
  return screen.getByTestId('missing-call');
}

test.each([
  ['en', 'This call was deleted: it is older than what this server keeps.'],
  ['zh', '此调用已被删除：它早于本服务器保留的历史记录。'],
] as const)(
  'a call that was deleted for its age says so, and is not tried again (%s)',
  async (locale, text) => {
    const line = await show('call_deleted', locale);
    expect(line.textContent).toBe(text);
    expect(screen.queryByRole('button')).toBeNull();
  },
);

test('another one says why it could not be loaded', async () => {
  const line = await show('internal', 'en');
  expect(line.textContent).toContain('What the server says.');
  expect(screen.getByRole('button', { name: 'Try again' })).toBeDefined();
});
