// @vitest-environment happy-dom
import { act, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createWorkbench } from '../providers/workbench-provider.tsx';
import { FetchedRecord } from './fetched-record.tsx';
import { renderIn } from './testing/in-workbench.tsx';

test('[CD24] a record on its way shows how large it is and how much has come', async () => {
  const text = JSON.stringify({ tool_call_id: 'tc_1', result: 'x'.repeat(1_500_000) });
  const bytes = new TextEncoder().encode(text);
  let line: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      line = controller;
    },
  });
  const headers = { 'content-length': `${bytes.length}` };
  const workbench = createWorkbench({
    baseUrl: '',
    fetch: async () => new Response(body, { headers }),
  });
  await act(
    async () =>
      void renderIn(
        workbench,
        <FetchedRecord callId="tc_1">{(call) => <p>{call.tool_call_id}</p>}</FetchedRecord>,
        'zh',
      ),
  );
  expect(screen.getByTestId('fetching').textContent).toBe('正在获取记录…');
  await act(async () => line?.enqueue(bytes.slice(0, 500_000)));
  expect((await screen.findByRole('status')).textContent).toBe('正在获取记录（1.5 MB）…');
  const progress = await screen.findByRole<HTMLProgressElement>('progressbar');
  expect(progress.value / progress.max).toBeCloseTo(1 / 3, 2);
  expect(screen.getByTestId('fetching').textContent).toContain('500 kB');
  await act(async () => {
    line?.enqueue(bytes.slice(500_000));
    line?.close();
  });
  expect(await screen.findByText('tc_1')).toBeDefined();
});

test('the transfer of a record ends with the last view that waits for it', async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  const workbench = createWorkbench({
    baseUrl: '',
    fetch: async (_url, { signal }) => {
      signals.push(signal);
      return new Response(new ReadableStream());
    },
  });
  const { unmount } = renderIn(
    workbench,
    <FetchedRecord callId="tc_1">{(call) => <p>{call.tool_call_id}</p>}</FetchedRecord>,
  );
  await act(async () => {});
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
  unmount();
  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
});
