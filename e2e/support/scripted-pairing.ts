import type { Page, Route } from '@playwright/test';
import type { JoinBody, Outcome } from '#lib/protocol/device';

const WORKBENCH = { name: 'Lab bench', fingerprint: [7, 77, 177, 240] };

/** `/api/pairing/*` as a server with one open code answers, for what a real one seldom does. */
export interface ScriptedPairing {
  readonly code: string;
  readonly joined: JoinBody | undefined;
  decide(state: Outcome['state']): void;
  /** Requests arrive, and their answers do not. */
  breakNetwork(isBroken: boolean): void;
}

export async function scriptPairing(page: Page): Promise<ScriptedPairing> {
  const code = 'ABCD2345';
  const expires_at = Math.floor(Date.now() / 1_000) + 600;
  let state: Outcome['state'] = 'unknown';
  let joined: JoinBody | undefined;
  let isBroken = false;
  let onDecided = () => {};

  const answers: Record<string, (body: Record<string, unknown>) => Promise<unknown>> = {
    look: async (body) => (body.code === code ? { workbench: WORKBENCH, expires_at } : undefined),
    join: async (body) => {
      joined = body as unknown as JoinBody;
      state = 'waiting';
      return { pairing_id: 'pairing_1', workbench: WORKBENCH, expires_at, rejected: [] };
    },
    outcome: async ({ wait_ms }) => {
      if (state === 'waiting' && wait_ms !== 0 && !isBroken) {
        await new Promise<void>((decided) => {
          onDecided = decided;
        });
      }
      const device = { device_id: 'device_1', client_id: 'client_1', name: 'Pocket' };
      return {
        state,
        workbench: WORKBENCH,
        ...(state === 'approved' ? { device } : { expires_at }),
      };
    },
  };

  await page.route('**/api/pairing/*', async (route: Route) => {
    const request = route.request();
    const name = new URL(request.url()).pathname.split('/').at(-1) ?? '';
    const answer = await answers[name]?.(request.postDataJSON());
    // The page may have been closed while it waited.
    if (isBroken) return route.abort('connectionfailed').catch(() => {});
    const error = { error: { code: 'not_found', message: 'There is no such code.' } };
    const status = answer === undefined ? 404 : 200;
    await route.fulfill({ status, json: answer ?? error }).catch(() => {});
  });

  return {
    code,
    get joined() {
      return joined;
    },
    decide(next) {
      state = next;
      onDecided();
    },
    breakNetwork(next) {
      isBroken = next;
      onDecided();
    },
  };
}
