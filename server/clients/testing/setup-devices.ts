import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { tempDir } from '#lib/testing/temp-dir';
import { openAudit } from '../../auth/audit.ts';
import { createFailedAttempts } from '../../auth/failed-attempts.ts';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { hashSecret } from '../../auth/secrets.ts';
import { Tokens } from '../../auth/tokens.ts';
import { createNewId } from '../../base/new-id.ts';
import { createStoreOnThisThread } from '../../store/testing/store-on-this-thread.ts';
import { throwingLogger as logger } from '../../testing/error-log.ts';
import type { By } from '../device-list.ts';
import type { Requester } from '../pairing-service.ts';
import { createTestDevices } from './create-test-devices.ts';

export const PHONE: Requester = {
  address: '192.168.1.7',
  userAgent: 'Mozilla/5.0 (Linux; Android 16; Pixel 8) Chrome/140.0 Mobile Safari/537.36',
  foreignOrigin: null,
};
export const BY: By = { caller: FIRST_OPERATOR, address: '127.0.0.1' };
export const never = new AbortController().signal;

export const echo = (more: object = {}) => ({
  ...{ name: 'echo', description: 'Says it again', parameters: { type: 'object' } },
  ...more,
});

/** A token as a device makes it. */
export const deviceToken = (): string => `cb_device_${randomBytes(32).toString('base64url')}`;

/** Devices on a real store; only time is the test's. */
export async function setupDevices(
  options: { pages?: 'ask' | 'off'; addresses?: readonly string[] } = {},
) {
  const dir = tempDir();
  const clock = createManualClock();
  const newSecret = () => randomBytes(32).toString('base64url');
  const start = async () => {
    const store = createStoreOnThisThread({ file: join(dir, 'callboard.db') });
    onTestFinished(() => store.close());
    let ids = 0;
    const newId = createNewId(() => clock.now() + ids++);
    const tokens = new Tokens({ store, clock, newId, newSecret, logger });
    await tokens.load();
    const audit = await openAudit({ store, clock });
    // Waits are held by the clock, which stands still.
    const failedAttempts = createFailedAttempts(clock, { maxHeld: 0 });
    const made = await createTestDevices({
      ...{ store, tokens, audit, clock, failedAttempts, logger, ...options },
    });
    const acts = async () => (await store.listAudit({ limit: 200 })).entries.reverse();
    return { ...made, store, tokens, acts };
  };
  const first = await start();
  /** A device that asks with a code of its own. */
  async function ask(tools: readonly unknown[] = [echo()], requester = PHONE) {
    const token = deviceToken();
    const { code } = await first.pairing.open(BY, '127.0.0.1:4173');
    const body = { token_hash: hashSecret(token), name: 'Pixel 8', kind: 'phone' as const };
    const joined = await first.pairing.join({ ...body, code, tools: [...tools] }, requester);
    return { token, code, joined, id: joined.pairing_id };
  }
  return {
    ...{ ...first, clock, ask },
    async restart() {
      first.stop();
      await first.store.close();
      return start();
    },
    /** One that is let in. */
    async pair(tools?: readonly unknown[]) {
      const asked = await ask(tools);
      const { device_id } = await first.pairing.decide(asked.id, { decision: 'approve' }, BY);
      return { ...asked, deviceId: device_id ?? '' };
    },
  };
}
