import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { NoticeOf } from '#lib/protocol/notice';
import { tempDir } from '#lib/testing/temp-dir';
import { type Caller, FIRST_OPERATOR, type Operator } from '../../../auth/principal.ts';
import { hashSecret } from '../../../auth/secrets.ts';
import { Sessions } from '../../../auth/sessions.ts';
import { Tokens } from '../../../auth/tokens.ts';
import { createNewId } from '../../../base/new-id.ts';
import { createStoreOnThisThread } from '../../../store/testing/store-on-this-thread.ts';
import { throwingLogger as logger } from '../../../testing/error-log.ts';
import { openPush, pushConfigSchema } from '../open-push.ts';
import { startPushService } from './fake-push-service.ts';

export const never = new AbortController().signal;

/** Push on a real store and a push service over real HTTP; only time is the test's. */
export async function setupPush(config: Parameters<typeof pushConfigSchema.parse>[0] = {}) {
  const dataDir = tempDir();
  const clock = createManualClock();
  const pushService = await startPushService();
  const newSecret = () => randomBytes(32).toString('base64url');
  const start = async (settings = config) => {
    const store = createStoreOnThisThread({ file: join(dataDir, 'callboard.db') });
    onTestFinished(() => store.close());
    let ids = 0;
    const newId = createNewId(() => clock.now() + ids++);
    const tokens = new Tokens({ store, clock, newId, newSecret, logger });
    await tokens.load();
    const sessions = new Sessions({ store, clock, newSecret, instanceId: '0a1b2c3d', logger });
    const push = await openPush({
      ...{ store, tokens, sessions, clock, newId, logger, dataDir },
      ...{ config: pushConfigSchema.parse(settings), publicUrl: undefined },
      fetch: pushService.fetch,
    });
    const targetOf = (pushId: string) =>
      push.targets.list().find(({ id }) => id === `push:${pushId}`);
    return {
      ...{ ...push, store, tokens, sessions, targetOf },
      /** A person who has signed in, by the token of the first run or one of their own. */
      async person(role?: 'viewer' | 'operator'): Promise<Operator> {
        const made =
          role &&
          (await tokens.create({ kind: 'operator', name: `${role}${ids}`, role }, 'operator'));
        const tokenId = made?.token.id ?? null;
        const { cookie, key } = await sessions.signIn(tokenId, false);
        const session = await sessions.find(cookie, key);
        const caller = { ...FIRST_OPERATOR, ...(role && { name: role, role }), tokenId };
        return { ...caller, sessionId: session?.id ?? null };
      },
      async device(clientId: string): Promise<Caller> {
        const asked = { hash: hashSecret(newSecret()), name: 'Pixel', clientId };
        const made = await tokens.createForDevice(asked, 'operator', () => []);
        return { kind: 'device', clientId, tokenId: made.id };
      },
    };
  };
  const first = await start();
  return {
    ...{ ...first, clock, pushService, dataDir },
    async restart(settings = config) {
      await first.store.close();
      return start(settings);
    },
  };
}

const ofCall = {
  ...{ tool_call_id: 'tc_1', run_id: 'run_1', tool_name: 'files.delete', display_name: null },
  ...{ source: 'client', client: { client_id: 'client_1', name: 'Pixel 8' } },
  ...{ requested_by: 'agent:helper', link: '/approvals?call=tc_1' },
};

/** An approval that is asked for now, and lasts a minute. */
export const requested = (
  now: number,
  more: Partial<NoticeOf<'approval.requested'>['data']> = {},
): NoticeOf<'approval.requested'> => ({
  ...{ id: 'evt_1', type: 'approval.requested', at: now },
  data: { ...ofCall, reason: null, expires_at: now / 1_000 + 60, ...more },
});

export const decided = (now: number): NoticeOf<'approval.decided'> => ({
  ...{ id: 'evt_2', type: 'approval.decided', at: now },
  data: { ...ofCall, decision: 'yes', decided_by: 'operator' },
});

export const finished = (
  now: number,
  outcome: NoticeOf<'call.finished'>['data']['outcome'],
  id = 'evt_3',
): NoticeOf<'call.finished'> => ({
  ...{ id, type: 'call.finished', at: now },
  data: { ...ofCall, outcome, executed: 'yes', duration_ms: 5 },
});
