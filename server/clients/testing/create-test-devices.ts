import type { Audit } from '../../auth/audit.ts';
import { createFailedAttempts, type FailedAttempts } from '../../auth/failed-attempts.ts';
import type { Tokens } from '../../auth/tokens.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { createNewId } from '../../base/new-id.ts';
import type { Store } from '../../store/sqlite-store.ts';
import { ToolRegistry } from '../../tools/tool-registry.ts';
import { openDevices } from '../open-devices.ts';
import { DevicePairing } from '../pairing-service.ts';

const WORKBENCH = { name: 'desk', fingerprint: [1, 2, 3, 4] };

/** Pairing and devices on what a test gives them; codes are the server's own. */
export async function createTestDevices(deps: {
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly failedAttempts: FailedAttempts;
  readonly logger: Logger;
  readonly pages?: 'ask' | 'off';
  readonly addresses?: readonly string[];
}) {
  const { audit, clock, failedAttempts, pages = 'ask', addresses = [] } = deps;
  const events: unknown[] = [];
  let ids = 0;
  const opened = await openDevices(
    { pages },
    {
      ...{ ...deps, newId: createNewId(() => clock.now() + ids++) },
      bus: { publish: (body) => events.push(body) },
      instances: { hasClient: () => false },
    },
  );
  const { list, pairings, blocked } = opened;
  const registry = new ToolRegistry({
    providers: [],
    availability: () => ({ name: 'one', visible: true, responsive: true, lastTouchedAt: 0 }),
  });
  const closing = new AbortController();
  return {
    ...{ ...opened, events, registry, closing },
    devices: list,
    pairing: new DevicePairing({
      ...{ pairings, devices: list, blocked, audit, failedAttempts, registry, clock },
      ...{ workbench: WORKBENCH, closing: closing.signal },
      knocks: {
        ofOrigin: createFailedAttempts(clock, { count: 6 }),
        ofAddress: createFailedAttempts(clock, { count: 60 }),
      },
      addresses: () => addresses,
    }),
  };
}
