import { hash } from 'node:crypto';
import { z } from 'zod';
import type { PushFailure, WirePushSubscription } from '#lib/protocol/push';
import { PUSH_KINDS } from '#lib/protocol/push-kinds';

/** Times in milliseconds since the epoch. */
export const pushRecordSchema = z.object({
  pushId: z.string(),
  endpoint: z.string(),
  p256dh: z.string(),
  auth: z.string(),
  locale: z.enum(['en', 'zh']),
  kinds: z.array(z.enum(PUSH_KINDS)),
  details: z.boolean(),
  browser: z.string(),
  /** By which its holder finds it (`principalKey`). */
  ownerKey: z.string(),
  /** It ends with the sign-in of a person, or the token of a device. */
  owner: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('person'), tokenId: z.string().nullable(), sessionId: z.string() }),
    z.object({ kind: z.literal('device'), tokenId: z.string(), clientId: z.string() }),
  ]),
  createdAt: z.number(),
  /** When its page registered it last. */
  confirmedAt: z.number(),
});
export type PushRecord = z.infer<typeof pushRecordSchema>;

/** The last attempt. In memory alone: a start brings nothing of before. */
export interface LastPush {
  readonly at: number;
  readonly status: number | null;
  /** Null: it was delivered. */
  readonly reason: PushFailure | null;
}

/**
 * A subscription of a person ends so long after its page was open last, as the longest sign-in does;
 * that of a device with its pairing alone, and its page may stay closed for weeks.
 */
const LIVES_MS = { person: 7 * 24 * 60 * 60_000, device: 90 * 24 * 60 * 60_000 } as const;

export const endOf = ({ owner, confirmedAt }: PushRecord): number =>
  confirmedAt + LIVES_MS[owner.kind];

export const hostOf = (endpoint: string): string => new URL(endpoint).hostname;

export const toWirePush = (record: PushRecord, last: LastPush | null): WirePushSubscription => ({
  push_id: record.pushId,
  endpoint_sha256: hash('sha256', record.endpoint),
  host: hostOf(record.endpoint),
  browser: record.browser,
  kinds: record.kinds,
  details: record.details,
  created_at: record.createdAt / 1_000,
  expires_at: endOf(record) / 1_000,
  last: last && {
    at: last.at / 1_000,
    outcome: last.reason === null ? 'delivered' : 'failed',
    status: last.status,
    reason: last.reason,
  },
});
