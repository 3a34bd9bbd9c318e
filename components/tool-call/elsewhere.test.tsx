// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { tool } from '#lib/stores/testing/fixtures';
import { personWith } from './testing/in-workbench.tsx';
import { showCard } from './testing/show-card.tsx';

afterEach(() => {
  window.location.hash = '';
});

const PHONE = { client_id: 'phone', name: 'Pixel 8', visible: true };
const listing = (more: Partial<ToolListing>) =>
  tool('where', { source: 'client', clients: [PHONE], ...more });

function setup(update: CardUpdate, offered?: ToolListing, locale: 'en' | 'zh' = 'en') {
  const shown = showCard(
    {
      ...{ tool_name: 'where', source: 'client', client_id: 'phone', client_name: 'Pixel 8' },
      ...{ params: {}, status: 'SUCCESS', result: 1 },
      ...update,
    },
    { answer: () => ({ body: { tool_call_id: 'tc_2' } }), locale },
  );
  if (offered) act(() => shown.workbench.listings.setState({ tools: [offered] }));
  return shown;
}

async function openMenu(name = 'More for where') {
  fireEvent.keyDown(screen.getByRole('button', { name }), { key: 'Enter' });
  return screen.findByRole('menu');
}

async function openDialog() {
  const menu = await openMenu();
  fireEvent.click(within(menu).getByRole('menuitem', { name: 'Run on another device…' }));
  return screen.findByRole('dialog');
}

test('[CD41] a call that has ended is run on the device that is chosen among those that offer it now', async () => {
  const { sent } = setup(
    {},
    listing({
      clients: [
        PHONE,
        { client_id: 'tab', name: 'Laptop', visible: false },
        { client_id: 'old', name: 'Old', visible: true, responsive: false },
      ],
      others: [{ client_id: 'x', name: 'Tablet' }],
    }),
  );
  const dialog = await openDialog();
  const buttons = within(dialog).getAllByRole('listitem');
  expect(buttons.map(({ textContent }) => textContent)).toEqual([
    'Pixel 8It ran this call',
    'LaptopHidden',
    'OldDoes not answer',
    'TabletTakes other arguments',
    'All of them',
  ]);
  expect(dialog.textContent).toContain('it may run twice');
  await act(async () => fireEvent.click(within(dialog).getByRole('button', { name: /Laptop/ })));
  expect(sent).toEqual([{ path: '/v1/tool_calls/tc_1/retry', body: { client: 'tab' } }]);
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(window.location.hash).toBe('#call=tc_2');
});

test('[CD41] where no device offers it any more the window shows that', async () => {
  setup({});
  expect((await openDialog()).textContent).toContain('No device offers where now.');
});

test('[CD41] a tool of the server, and those who only read, have no such action', async () => {
  setup({ source: 'server' });
  await openMenu();
  expect(screen.queryByRole('menuitem', { name: 'Run on another device…' })).toBeNull();
  cleanup();
  const { workbench } = setup({}, listing({}));
  act(() => workbench.me.setState({ me: personWith('viewer') }));
  await openMenu();
  expect(screen.queryByRole('menuitem', { name: 'Run on another device…' })).toBeNull();
});

test('[CD42] a call that asks each device names all, and has their cards in its own', async () => {
  const { change } = setup(
    { source: 'pool', client_id: null, client_name: null, status: 'DOING', started_at: 1 },
    listing({}),
    'zh',
  );
  act(() => {
    for (const [id, client_name] of [
      ['tc_2', 'Pixel 8'],
      ['tc_3', 'Laptop'],
    ] as const) {
      change({ tool_name: 'where', source: 'client', client_name, parent_call_id: 'tc_1' }, id);
    }
  });
  const work = await screen.findByRole('list', { name: '对每个设备的调用' });
  await waitFor(() => expect(within(work).getAllByTestId('tool-card')).toHaveLength(2));
  expect(work.textContent).toContain('Pixel 8');
  expect(work.textContent).toContain('Laptop');
  expect(screen.getAllByTestId('tool-card')[0]?.textContent).toContain('全部设备');
});
