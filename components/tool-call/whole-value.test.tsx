// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import type { SentRequest } from './testing/in-workbench.tsx';
import { showCard } from './testing/show-card.tsx';

/** A card of that update, whose call has that record. */
function setup(
  update: CardUpdate,
  record: object,
  { status = 200, locale = 'en' }: { status?: number; locale?: 'en' | 'zh' } = {},
) {
  const answer = ({ path }: SentRequest) =>
    path === '/v1/tool_calls/tc_whole' ? { status, body: record } : { body: {} };
  const card = { tool_name: 'file.read', source: 'server', params: {}, truncated: true } as const;
  return showCard({ ...card, ...update }, { answer, locale, id: 'tc_whole' }).sent;
}

/** The file that is saved next: its name, its type and what is in it. */
function nextFile(): Promise<readonly [string, string, string]> {
  return new Promise((resolve) => {
    let blob: Blob | undefined;
    vi.spyOn(URL, 'createObjectURL').mockImplementation((given) => {
      if (given instanceof Blob) blob = given;
      return 'blob:x';
    });
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
      this: HTMLAnchorElement,
    ) {
      blob?.text().then((text) => resolve([this.download, blob?.type ?? '', text]));
    });
  });
}

const button = (name: string) => screen.getByRole('button', { name });
const rows = Array.from({ length: 3_000 }, (_, n) => ({ n }));
const record = {
  tool_call_id: 'tc_whole',
  tool_name: 'file.read',
  args: {},
  result: 'for the model',
};
const done = { status: 'SUCCESS', result: rows.slice(0, 2), result_bytes: 31_000 } as const;

test('[CD21] a result that is a beginning opens whole, the display where there is one', async () => {
  setup(done, { ...record, display: rows });
  expect(screen.getByTestId('part-note').textContent).toContain('of 31 kB');
  fireEvent.click(button('Open whole'));
  const dialog = within(await screen.findByRole('dialog', { name: 'Result' }));
  expect((await dialog.findByTestId('pager')).textContent).toContain('Rows 1 to 100 of 3,000');
  const file = nextFile();
  fireEvent.click(dialog.getByRole('button', { name: 'Download the output for the model' }));
  expect(await file).toEqual(['file.read-output.txt', 'text/plain', 'for the model']);
});

test('[CD23] a whole that cannot be had shows why in the language of the page', async () => {
  const failure = { error: { code: 'rate_limited', message: 'Too many requests' } };
  setup(done, failure, { status: 429, locale: 'zh' });
  fireEvent.click(button('打开完整内容'));
  const dialog = within(await screen.findByRole('dialog', { name: '结果' }));
  expect((await dialog.findByRole('alert')).textContent).toBe('请求过多。请稍候再试。');
});

test('[CD21] the file of a result is the whole of it', async () => {
  setup(done, { ...record, result: rows });
  const file = nextFile();
  fireEvent.click(button('Download'));
  const [name, type, text] = await file;
  expect([name, type]).toEqual(['file.read.json', 'application/json']);
  expect(JSON.parse(text)).toEqual(rows);
});

test('[CD21] arguments, a preview and an error lead to their wholes too', async () => {
  const args = { body: 'x'.repeat(20_000) };
  const error = { code: 'tool_error', message: 'no '.repeat(9_000), executed: 'yes' } as const;
  setup(
    {
      status: 'ERROR',
      params: { body: 'x…' },
      params_bytes: 20_011,
      error: { ...error, message: 'no no' },
      error_bytes: 27_060,
    },
    { ...record, args, error },
  );
  fireEvent.click(button('Open whole'));
  expect((await screen.findByRole('dialog', { name: 'Error message' })).textContent).toContain(
    'of 27,000',
  );
  fireEvent.click(button('Close'));
  fireEvent.click(screen.getByText('Arguments'));
  expect(screen.getAllByTestId('part-note')[1]?.textContent).toContain('of 20 kB');
  const file = nextFile();
  fireEvent.click(screen.getAllByRole('button', { name: 'Download' })[1] ?? document.body);
  const [name, , text] = await file;
  expect([name, JSON.parse(text)]).toEqual(['file.read-arguments.json', args]);
  cleanup();

  setup(
    { status: 'DOING', phase: 'granted', preview: 'so', preview_bytes: 30_000 },
    { ...record, preview: 'so far '.repeat(4_000) },
  );
  fireEvent.click(button('Open whole'));
  expect((await screen.findByRole('dialog', { name: 'So far' })).textContent).toContain(
    'of 28,000',
  );
});

test('[CD21] a person edits the whole arguments', async () => {
  const args = { amount: 5, memo: `${'x'.repeat(20_000)} and pay it to Mallory` };
  const update = { status: 'WAIT', phase: 'approval', params: { amount: 5, memo: 'x…' } } as const;
  setup({ ...update, params_bytes: 20_060 }, { ...record, args });
  await waitFor(() => expect(button('Edit arguments…')).toHaveProperty('disabled', false));
  fireEvent.click(button('Edit arguments…'));
  const field = screen.getByRole<HTMLTextAreaElement>('textbox');
  expect(JSON.parse(field.value)).toEqual(args);
});
