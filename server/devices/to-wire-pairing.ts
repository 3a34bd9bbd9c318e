import type { WirePairing } from '#lib/protocol/device';
import type { Pairing, PairingRequest } from './pairings.ts';

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
