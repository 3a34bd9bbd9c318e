// @vitest-environment happy-dom
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { press } from '../tool-call/testing/in-workbench.tsx';
import { Toaster } from '../ui/toaster.tsx';
import {
  ASKING,
  OPENED,
  pairingOf,
  serving,
  setupDevicesPage,
  type World,
} from './testing/setup-devices-page.tsx';

test.each([
  ['that nothing has used', pairingOf(), 'The server was started anew'],
  ['that a device has used', ASKING, 'The server was started anew'],
  ['of a device that was let in', pairingOf({ state: 'approved' }), 'The device is paired.'],
] as const)(
  '[DS9] a code %s is not shown as open once the server does not list it',
  async (_what, last, text) => {
    const world: World = { pairings: [pairingOf()], devices: [] };
    const { changed, sent } = await setupDevicesPage(
      serving(world, ({ path, body }) =>
        path === '/v1/pairings' && body ? { status: 201, body: OPENED } : undefined,
      ),
    );
    await press('Pair a device');
    await screen.findByTestId('code');
    world.pairings = [last];
    await changed();
    world.pairings = [];
    await changed();
    expect(screen.queryByTestId('code')).toBeNull();
    expect(screen.getByTestId('pairing-outcome').textContent).toContain(text);
    // There is nothing to withdraw.
    const before = sent.length;
    await press(/^Close/, screen.getByTestId('pairing-outcome'));
    expect(sent).toHaveLength(before);
  },
);

test('[DS9] a decision without an answer is not shown as one that did not arrive', async () => {
  await setupDevicesPage(
    serving({ pairings: [ASKING], devices: [] }, ({ path }) => {
      if (path.endsWith('/decision')) throw new TypeError('the network changed');
      return undefined;
    }),
  );
  render(<Toaster label="Messages" closeLabel="Close" />);
  await press('Let it in');
  expect(await screen.findByText('It is not known whether the decision arrived')).toBeDefined();
});
