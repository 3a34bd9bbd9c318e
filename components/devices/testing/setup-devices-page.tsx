import { act, render, screen } from '@testing-library/react';
import type { DeviceTool, OpenedPairing, WireDevice, WirePairing } from '#lib/protocol/device';
import type { Role } from '#lib/protocol/role';
import type { ClientListing } from '#lib/protocol/watch-messages';
import { client } from '#lib/stores/testing/fixtures';
import {
  type Answer,
  createTestWorkbench,
  InWorkbench,
  personWith,
  type SentRequest,
} from '../../tool-call/testing/in-workbench.tsx';
import { DevicesPage } from '../devices-page.tsx';

export const toolOf = (name: string, more: Partial<DeviceTool> = {}): DeviceTool => ({
  ...{ name, description: `Does ${name}`, parameters: { type: 'object' }, hash: `hash-${name}` },
  ...more,
});

export const deviceOf = (more: Partial<WireDevice> = {}): WireDevice => ({
  ...{ device_id: 'dev_1', client_id: 'client_pixel', name: 'Pixel 8', kind: 'phone' },
  ...{ browser: 'Chrome on Android', origin: null, paired_at: 86_400, paired_by: 'operator' },
  ...{ last_seen_at: null, revoked_at: null, tools: [toolOf('camera.photo')], waiting: [] },
  denied: [],
  ...more,
});

export const clientOf = (more: Partial<ClientListing> = {}): ClientListing =>
  client('client_pixel', { name: 'Pixel 8', kind: 'phone', tools: ['camera.photo'], ...more });

const WORKBENCH = { name: 'desk', fingerprint: [1, 2, 3, 4] };

export const pairingOf = (more: Partial<WirePairing> = {}): WirePairing => ({
  ...{ pairing_id: 'pair_1', state: 'open', created_at: 1, created_by: 'operator' },
  ...{ expires_at: 4e9, request: null, device_id: null, decided_by: null, decided_at: null },
  ...more,
});

export const ASKING = pairingOf({
  state: 'asking',
  request: {
    ...{ name: 'Pixel 8', kind: 'phone', browser: 'Chrome on Android', address: '192.0.2.7' },
    ...{ origin: null, tools: [toolOf('camera.photo'), toolOf('clipboard.read')], asked_at: 2 },
  },
});

export const OPENED: OpenedPairing = {
  ...pairingOf(),
  ...{ code: 'ABCDEFGH', links: ['https://192.0.2.1:3000/pair/ABCDEFGH'], workbench: WORKBENCH },
};

export interface World {
  pairings: WirePairing[];
  devices: WireDevice[];
}

/** A server that knows `world`; what one test answers otherwise comes first. */
export const serving =
  (world: World, special: (request: SentRequest) => Answer | undefined = () => undefined) =>
  (request: SentRequest): Answer => {
    const other = special(request);
    if (other) return other;
    const { path } = request;
    if (path === '/v1/pairings') return { body: { pairings: world.pairings } };
    if (path === '/v1/devices') return { body: { devices: world.devices, next_cursor: null } };
    if (path === '/v1/blocked-origins') return { body: { origins: [] } };
    return { status: 404, body: { error: { code: 'not_found', message: path } } };
  };

interface SetupOptions {
  role?: Role;
  locale?: 'en' | 'zh';
  clients?: ClientListing[];
}

export async function setupDevicesPage(
  answer: (request: SentRequest) => Answer,
  { role = 'operator', locale = 'en', clients = [] }: SetupOptions = {},
) {
  const { workbench, sent } = createTestWorkbench(answer);
  workbench.me.setState({ me: personWith(role) });
  workbench.listings.setState({ clients, known: true });
  await act(async () => {
    render(
      <InWorkbench workbench={workbench} locale={locale}>
        <main tabIndex={-1}>
          <DevicesPage />
        </main>
      </InWorkbench>,
    );
  });
  const changed = () =>
    act(async () => {
      workbench.devices.getState().apply([{ type: 'devices', seq: 1, asking: 0, waiting: 0 }]);
    });
  return { workbench, sent, changed };
}

export const card = (name: string) => screen.getByRole('article', { name });
