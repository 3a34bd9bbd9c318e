// @vitest-environment happy-dom
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { OpenedPairing, WirePairing } from '#lib/protocol/device';
import { callEvent } from '#lib/stores/testing/fixtures';
import { press } from '../tool-call/testing/in-workbench.tsx';
import { Toaster } from '../ui/toaster.tsx';
import {
  ASKING,
  card,
  clientOf,
  deviceOf,
  OPENED,
  pairingOf,
  serving,
  setupDevicesPage,
  toolOf,
  type World,
} from './testing/setup-devices-page.tsx';

test('[DS1] a device says what it is, whether it is there, and what its connection reports', async () => {
  const online = clientOf({ battery: { level: 0.42, charging: false }, latency_ms: 31 });
  await setupDevicesPage(serving({ pairings: [], devices: [deviceOf()] }), { clients: [online] });
  const text = card('Pixel 8').textContent;
  expect(text).toMatch(/online, in front.*Chrome on Android.*paired .* by operator/);
  expect(text).toMatch(/in front · battery 42 % · answers in 31 ms/);
  expect(text).toContain('Tools: 1 of 1 offered now');
});

test('[DS1] a device shows the calls that run there, what its browser permits, and a way to try each tool', async () => {
  const permissions = { 'camera.photo': 'denied', 'clipboard.read': 'prompt' } as const;
  const tools = ['camera.photo', 'clipboard.read'];
  const online = clientOf({ tools, permissions, secure_context: false });
  const { workbench } = await setupDevicesPage(serving({ pairings: [], devices: [deviceOf()] }), {
    clients: [online],
  });
  const call = { client_id: 'client_pixel', status: 'DOING' } as const;
  await act(async () =>
    workbench.calls
      .getState()
      .apply([
        callEvent(1, 'tc_1', { tool_name: 'camera.photo', ...call }),
        callEvent(2, 'tc_2', { tool_name: 'camera.photo', ...call }),
        callEvent(3, 'tc_3', { tool_name: 'camera.photo', ...call, client_id: 'another' }),
        callEvent(4, 'tc_4', { tool_name: 'camera.photo', ...call, status: 'SUCCESS' }),
      ]),
  );
  const { textContent } = card('Pixel 8');
  expect(textContent).toContain('2 calls run');
  expect(textContent).toContain('no secure context: no camera, position or clipboard');
  expect(textContent).toMatch(/camera\.photo.?the browser blocks it/);
  expect(textContent).toMatch(/clipboard\.read.?the browser will ask the person/);
  const link = within(card('Pixel 8')).getByRole('link', { name: 'camera.photo', hidden: true });
  expect(link.getAttribute('href')).toBe('/tools?tool=camera.photo&client=client_pixel');
});

test('[DS2] those that are here come first, then those that are away, then those that were revoked', async () => {
  const devices = [
    deviceOf({ device_id: 'd1', client_id: 'c1', name: 'Old', revoked_at: 9 }),
    deviceOf({ device_id: 'd2', client_id: 'c2', name: 'Away', last_seen_at: 5 }),
    deviceOf({ device_id: 'd3', client_id: 'c3', name: 'Here' }),
  ];
  const clients = [clientOf({ client_id: 'c3' }), clientOf({ client_id: 'c4', name: 'My tab' })];
  await setupDevicesPage(serving({ pairings: [], devices }), { clients });
  const names = screen.getAllByRole('article').map((one) => one.dataset.client);
  expect(names).toEqual(['c3', 'c4', 'c2', 'c1']);
  expect(card('My tab').textContent).toContain('not paired');
  expect(within(card('Old')).queryByRole('button')).toBeNull();
});

test('[DS3] a client that does not answer, or is hidden, is shown as such', async () => {
  const clients = [
    clientOf({ client_id: 'c1', name: 'Silent', responsive: false }),
    clientOf({ client_id: 'c2', name: 'Hidden', visible: false }),
  ];
  await setupDevicesPage(serving({ pairings: [], devices: [] }), { clients });
  expect(card('Silent').textContent).toContain('connected, does not answer');
  expect(card('Hidden').textContent).toContain('online, in the background');
});

test('[DS7] a code is shown as a picture, a link and letters, and dies with the dialog', async () => {
  const world: World = { pairings: [pairingOf()], devices: [] };
  const { sent } = await setupDevicesPage(
    serving(world, ({ path, body }) =>
      path === '/v1/pairings' && body ? { status: 201, body: OPENED } : undefined,
    ),
  );
  await press('Pair a device');
  expect(await screen.findByRole('img', { name: /^QR code/ })).toBeDefined();
  expect(screen.getByTestId('code').textContent).toBe('ABCD-EFGH');
  expect(screen.getByTestId('pair-link').textContent).toBe(OPENED.links[0]);
  expect(screen.getByTestId('pairing-code').textContent).toContain('“desk”');
  await press('Close');
  expect(sent.at(-1)?.path).toBe('/v1/pairings/pair_1');
});

test('[DS8] a device that uses the code is shown with all it says, and let in with the tools that were chosen', async () => {
  const world: World = { pairings: [pairingOf()], devices: [] };
  const { sent, changed } = await setupDevicesPage(
    serving(world, ({ path, body }) => {
      if (path.endsWith('/decision')) return { body: pairingOf({ state: 'approved' }) };
      return path === '/v1/pairings' && body ? { status: 201, body: OPENED } : undefined;
    }),
  );
  await press('Pair a device');
  await screen.findByTestId('code');
  world.pairings = [ASKING];
  await changed();
  const request = screen.getByTestId('pairing-request');
  expect(request.textContent).toMatch(/Pixel 8.*phone, Chrome on Android.*192\.0\.2\.7/);
  // Letters that are written from right to left reorder nothing beside the name.
  expect(request.querySelector('h2 bdi')?.textContent).toBe('Pixel 8');
  fireEvent.click(within(request).getByRole('checkbox', { name: /clipboard\.read/ }));
  fireEvent.change(within(request).getByRole('textbox'), { target: { value: 'Phone of Ada' } });
  await press('Let it in', request);
  expect(sent.find(({ path }) => path === '/v1/pairings/pair_1/decision')?.body).toEqual({
    ...{ decision: 'approve', name: 'Phone of Ada', tools: ['camera.photo'] },
  });
  expect(screen.getByTestId('pairing-outcome').textContent).toContain('The device is paired.');
});

test('[DS8] of a tool that says that it only reads, a request shows that no person is asked', async () => {
  const tools = [toolOf('door.open', { annotations: { readOnlyHint: true } }), toolOf('vibrate')];
  const pairing = { ...ASKING, request: { ...ASKING.request, tools } } as WirePairing;
  await setupDevicesPage(serving({ pairings: [pairing], devices: [] }));
  const choices = screen.getAllByRole('listitem').map(({ textContent }) => textContent);
  expect(choices.find((text) => text?.includes('door.open'))).toContain('only reads');
  expect(choices.find((text) => text?.includes('vibrate'))).not.toContain('only reads');
});

test.each([
  ['expired', 'The code has expired'],
  ['burned', 'Too many wrong codes'],
  ['denied', 'was not let in'],
] as const)('[DS9] a pairing that is %s says so, and offers a new code', async (state, text) => {
  const world: World = { pairings: [pairingOf()], devices: [] };
  let opened = 0;
  const next = (): OpenedPairing => {
    opened += 1;
    return { ...OPENED, pairing_id: `pair_${opened}` };
  };
  const { changed } = await setupDevicesPage(
    serving(world, ({ path, body }) =>
      path === '/v1/pairings' && body ? { status: 201, body: next() } : undefined,
    ),
  );
  await press('Pair a device');
  await screen.findByTestId('code');
  world.pairings = [pairingOf({ state })];
  await changed();
  expect(screen.getByTestId('pairing-outcome').textContent).toContain(text);
  await press('Make a new code');
  expect(await screen.findByTestId('code')).toBeDefined();
});

test('[DS10] a page of another origin is named by it, and can be refused for good', async () => {
  const request = { ...ASKING.request, origin: 'https://shop.example', tools: [] };
  const pairing = { ...ASKING, request } as WirePairing;
  const { sent } = await setupDevicesPage(
    serving({ pairings: [pairing], devices: [] }, ({ path }) =>
      path.endsWith('/decision') ? { body: { ...pairing, state: 'denied' } } : undefined,
    ),
  );
  const shown = screen.getByTestId('pairing-request');
  expect(shown.textContent).toContain('https://shop.example');
  await press('Never ask for this page again', shown);
  expect(sent.find(({ path }) => path.endsWith('/decision'))?.body).toEqual({
    ...{ decision: 'deny', block: true },
  });
  expect(screen.queryByTestId('pairing-request')).toBeNull();
});

test('[DS11] a viewer sees who asks, and cannot decide or pair', async () => {
  await setupDevicesPage(serving({ pairings: [ASKING], devices: [deviceOf()] }), {
    role: 'viewer',
  });
  expect(screen.getByTestId('pairing-request')).toBeDefined();
  expect(screen.queryByRole('button')).toBeNull();
});

test('[DS13] a changed tool shows what differs, and is allowed by the hash that was seen', async () => {
  const before = toolOf('camera.photo', { hash: 'old' });
  const tool = toolOf('camera.photo', { hash: 'new', description: 'Sends it to the shop' });
  const waiting = [{ tool, before, asked_at: 3 }];
  const { sent } = await setupDevicesPage(
    serving({ pairings: [], devices: [deviceOf({ waiting })] }, ({ path }) =>
      path === '/v1/devices/dev_1/tools' ? { body: deviceOf({ tools: [tool] }) } : undefined,
    ),
  );
  const shown = screen.getByTestId('waiting-tool');
  expect(shown.querySelector('del')?.textContent).toBe('Does camera.photo');
  expect(shown.querySelector('ins')?.textContent).toBe('Sends it to the shop');
  expect(shown.querySelectorAll('dt')).toHaveLength(1);
  await press('Allow camera.photo');
  expect(sent.find(({ path }) => path === '/v1/devices/dev_1/tools')?.body).toEqual({
    allow: ['new'],
  });
  expect(screen.queryByTestId('waiting-tool')).toBeNull();
});

test('[DS14] revoking is asked about first, and the card that stays says when it was', async () => {
  const { sent } = await setupDevicesPage(
    serving({ pairings: [], devices: [deviceOf()] }, ({ path }) =>
      path === '/v1/devices/dev_1' ? { body: deviceOf({ revoked_at: 172_800 }) } : undefined,
    ),
  );
  await press('Revoke… Pixel 8');
  expect(sent.some(({ path }) => path === '/v1/devices/dev_1')).toBe(false);
  await press('Revoke');
  expect(card('Pixel 8').textContent).toMatch(/revoked.*revoked Jan 3, 1970/);
});

test('[DS15] a device is renamed, and an empty name is not sent', async () => {
  const { sent } = await setupDevicesPage(
    serving({ pairings: [], devices: [deviceOf()] }, ({ path }) =>
      path === '/v1/devices/dev_1' ? { body: deviceOf({ name: 'Phone of Ada' }) } : undefined,
    ),
  );
  await press('Rename… Pixel 8');
  const field = screen.getByRole('textbox', { name: 'New name' });
  fireEvent.change(field, { target: { value: '  ' } });
  await press('Save');
  expect(sent.some(({ path }) => path === '/v1/devices/dev_1')).toBe(false);
  fireEvent.change(field, { target: { value: 'Phone of Ada' } });
  await press('Save');
  expect(sent.find(({ path }) => path === '/v1/devices/dev_1')?.body).toEqual({
    name: 'Phone of Ada',
  });
  expect(card('Phone of Ada')).toBeDefined();
});

test('[DS5] a list that does not come shows why, and can be asked for again', async () => {
  let isDown = true;
  const world: World = { pairings: [], devices: [deviceOf()] };
  await setupDevicesPage(
    serving(world, ({ path }) =>
      isDown && path === '/v1/devices' ? { status: 500, body: {} } : undefined,
    ),
  );
  expect(screen.getByRole('alert').textContent).not.toBe('');
  isDown = false;
  await press('Try again');
  expect(card('Pixel 8')).toBeDefined();
});

test('[DS4] the newest calls of a device are summed up when a person asks', async () => {
  const call = (status: string, started: number) => ({
    ...{ tool_name: 'camera.photo', status, created_at: 1, completed_at: started + 2 },
    timings: { queued_at: 1, offered_at: 1, started_at: started, completed_at: started + 2 },
    error: status === 'FAILED' ? { code: 'tool_error', message: 'No light' } : null,
  });
  const calls = [call('SUCCEEDED', 3), call('FAILED', 2), call('SUCCEEDED', 1)];
  await setupDevicesPage(
    serving({ pairings: [], devices: [deviceOf()] }, ({ path }) =>
      path.startsWith('/v1/tool_calls?client=client_pixel')
        ? { body: { tool_calls: calls, next_cursor: null } }
        : undefined,
    ),
  );
  const details = screen.getByText('How its last 50 calls went').closest('details');
  await act(async () => {
    if (details) details.open = true;
    details?.dispatchEvent(new Event('toggle'));
  });
  expect(details?.textContent).toContain('3 calls, 1 failed · half took at most 2.0 s');
  expect(details?.textContent).toMatch(/Last error.*camera\.photo: No light/);
});

test('[DS6] the page speaks Chinese as well', async () => {
  await setupDevicesPage(serving({ pairings: [ASKING], devices: [deviceOf()] }), { locale: 'zh' });
  expect(screen.getByRole('heading', { name: '设备' })).toBeDefined();
  expect(screen.getByRole('button', { name: '允许接入' })).toBeDefined();
});

test('[DS13] a tool that was allowed is taken back', async () => {
  const [photo, clip] = [toolOf('camera.photo'), toolOf('clipboard.read')];
  const { sent } = await setupDevicesPage(
    serving(
      { pairings: [], devices: [deviceOf({ tools: [photo], denied: [clip] })] },
      ({ path }) => (path === '/v1/devices/dev_1/tools' ? { body: deviceOf() } : undefined),
    ),
  );
  await press('Take back camera.photo');
  expect(sent.filter(({ path }) => path === '/v1/devices/dev_1/tools')[0]?.body).toEqual({
    deny: ['hash-camera.photo'],
  });
});

test('[DS13] a tool that was refused is allowed by the hash that it was refused with', async () => {
  const denied = [toolOf('clipboard.read', { hash: 'older' }), toolOf('clipboard.read')];
  const { sent } = await setupDevicesPage(
    serving({ pairings: [], devices: [deviceOf({ denied })] }, ({ path }) =>
      path === '/v1/devices/dev_1/tools' ? { body: deviceOf() } : undefined,
    ),
  );
  expect(card('Pixel 8').textContent).toContain('clipboard.readnot allowed');
  await press('Allow clipboard.read');
  expect(sent.find(({ path }) => path === '/v1/devices/dev_1/tools')?.body).toEqual({
    allow: ['hash-clipboard.read'],
  });
});

test('[DS16] without a connection the page says since when it is old, and ages stand still', async () => {
  const { workbench } = await setupDevicesPage(serving({ pairings: [], devices: [deviceOf()] }));
  expect(screen.queryByTestId('devices-stale')).toBeNull();
  await act(async () => workbench.connection.setState({ lostAt: Date.now() - 125_000 }));
  expect(screen.getByTestId('devices-stale').textContent).toContain('2 minutes ago');
});

test('[DS8] a decision that came second names who was first', async () => {
  const params = { state: 'approved', by: 'operator:grace', decision: 'yes' };
  const error = { code: 'already_final', message: 'grace decided before', params };
  await setupDevicesPage(
    serving({ pairings: [ASKING], devices: [] }, ({ path }) =>
      path.endsWith('/decision') ? { status: 409, body: { error } } : undefined,
    ),
    { locale: 'zh' },
  );
  render(<Toaster label="消息" closeLabel="关闭" />);
  await press('允许接入');
  const toast = (await screen.findByText('已有人先作了决定')).closest('li');
  expect(toast?.textContent).toContain('grace');
});

test('[DS17] where what was decided disappears, the focus stays around it', async () => {
  const waiting = [{ tool: toolOf('share.send'), before: null, asked_at: 2 }];
  const world: World = { pairings: [ASKING], devices: [deviceOf({ waiting })] };
  const { workbench } = await setupDevicesPage(
    serving(world, ({ path }) => {
      if (path === '/v1/devices/dev_1/tools') return { body: deviceOf() };
      if (!path.endsWith('/decision')) return undefined;
      return { body: pairingOf({ ...ASKING, state: 'approved', device_id: 'dev_2' }) };
    }),
  );
  screen.getByRole('button', { name: 'Allow share.send' }).focus();
  await press('Allow share.send');
  expect(document.activeElement).toBe(card('Pixel 8'));
  expect(workbench.ui.getState().announcement?.text).toBe('Allowed: share.send');
  screen.getByRole('button', { name: 'Let it in' }).focus();
  await press('Let it in');
  expect(document.activeElement).toBe(screen.getByRole('main'));
  expect(workbench.ui.getState().announcement?.text).toBe('The device is paired.');
});

test('[DS3] a program is online, and neither in front nor in the background', async () => {
  await setupDevicesPage(serving({ pairings: [], devices: [deviceOf({ kind: 'program' })] }), {
    clients: [clientOf({ kind: 'program', visible: false })],
  });
  expect(screen.getByTestId('presence').textContent).toBe('online');
  expect(card('Pixel 8').textContent).not.toMatch(/in front|background/);
});
