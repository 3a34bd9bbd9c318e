import { Counts } from '#lib/limits/counts';
import type { Outcome, WirePairing, Workbench } from '#lib/protocol/device';
import { HttpError } from '#lib/protocol/http-error';
import { hashSecret } from '../auth/room.ts';
import { type Clock, waitFor } from '../base/clock.ts';
import type { DeviceList } from './device-list.ts';
import type { Pairing, PairingRequest, Pairings } from './pairings.ts';

/** Requests of one token that are held at a time; of tokens that wait there are as many as may ask. */
const MOST_HELD = 2;

export interface OutcomesDeps {
  readonly pairings: Pick<Pairings, 'ofToken' | 'onChange'>;
  readonly devices: Pick<DeviceList, 'ofTokenHash'>;
  readonly clock: Clock;
  readonly workbench: Workbench;
  /** The server stops: what is held is answered with what there is. */
  readonly closing: AbortSignal;
}

/** Finds what became of a device that asked, by its token: also long after, and after a restart. */
export class Outcomes {
  readonly #deps: OutcomesDeps;
  readonly #held = new Counts();

  constructor(deps: OutcomesDeps) {
    this.#deps = deps;
  }

  async of(token: string, waitMs: number, signal: AbortSignal): Promise<Outcome> {
    const tokenHash = hashSecret(token);
    const now = this.#now(tokenHash);
    if (now.state !== 'waiting' || waitMs === 0) return now;
    await this.#hold(tokenHash, waitMs, signal);
    return this.#now(tokenHash);
  }

  #now(tokenHash: string): Outcome {
    const { workbench, devices, pairings } = this.#deps;
    // First the record that is on disk: it holds whatever became of the pairing's.
    const device = devices.ofTokenHash(tokenHash);
    if (device) {
      const { deviceId, clientId, name, revokedAt } = device;
      if (revokedAt !== null) return { state: 'revoked', workbench };
      const known = { device_id: deviceId, client_id: clientId, name };
      return { state: 'approved', workbench, device: known };
    }
    const pairing = pairings.ofToken(tokenHash);
    const state = pairing ? stateOf(pairing) : 'unknown';
    if (state !== 'waiting') return { state, workbench };
    return { state, workbench, expires_at: (pairing?.expiresAt ?? 0) / 1_000 };
  }

  async #hold(tokenHash: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const release = this.#held.enter(tokenHash, MOST_HELD);
    if (!release) {
      const message = 'Requests for the outcome with this token are held already; ask again later.';
      throw new HttpError('rate_limited', message, { retryAfter: 5 });
    }
    const { clock, closing, pairings } = this.#deps;
    await waitFor(clock, waitMs, [signal, closing], (end) =>
      pairings.onChange(({ request }) => {
        if (request?.tokenHash === tokenHash) end();
      }),
    );
    release();
  }
}

function stateOf({ state }: Pairing): Outcome['state'] {
  switch (state) {
    case 'open':
    case 'asking':
      return 'waiting';
    case 'denied':
    case 'withdrawn':
      return 'denied';
    case 'approved':
      // Its device is on disk before; one that is not there any more was forgotten.
      return 'unknown';
    case 'burned':
    case 'expired':
      return 'expired';
  }
}

export const toWirePairing = (pairing: Pairing): WirePairing => ({
  pairing_id: pairing.id,
  state: pairing.state,
  created_at: pairing.createdAt / 1_000,
  created_by: pairing.createdBy,
  expires_at: pairing.expiresAt / 1_000,
  request: pairing.request && toWireRequest(pairing.request),
  device_id: pairing.deviceId,
  decided_by: pairing.decidedBy,
  decided_at: pairing.decidedAt === null ? null : pairing.decidedAt / 1_000,
});

const toWireRequest = ({
  tokenHash: _,
  rejected: __,
  askedAt,
  tools,
  ...request
}: PairingRequest): NonNullable<WirePairing['request']> => ({
  ...request,
  tools: [...tools],
  asked_at: askedAt / 1_000,
});
