import { z } from 'zod';
import { deviceToolSchema, MOST_DEVICE_TOOLS, type WireDevice } from '#lib/protocol/device';
import { HttpError } from '#lib/protocol/http-error';
import { HIDDEN_RANGES, hiddenClass } from '#lib/text/hidden-code-points';
import { stripInvisible } from '#lib/text/invisible';
import type { KeptEntry } from '../store/room.ts';

const tools = z.array(deviceToolSchema).max(MOST_DEVICE_TOOLS);

/** Times in milliseconds since the epoch. */
export const deviceRecordSchema = z.object({
  deviceId: z.string(),
  tokenId: z.string(),
  tokenHash: z.string(),
  clientId: z.string(),
  name: z.string(),
  kind: z.enum(['tab', 'phone', 'program']),
  browser: z.string(),
  /** A page of another origin has one. */
  origin: z.string().nullable(),
  pairedAt: z.number(),
  pairedBy: z.string(),
  lastSeenAt: z.number().nullable(),
  revokedAt: z.number().nullable(),
  tools,
  waiting: z
    .array(
      z.object({
        tool: deviceToolSchema,
        before: deviceToolSchema.nullable(),
        askedAt: z.number(),
      }),
    )
    .max(MOST_DEVICE_TOOLS),
  denied: tools,
});
export type DeviceRecord = z.infer<typeof deviceRecordSchema>;

export const toKeptDevice = (device: DeviceRecord): KeptEntry => ({
  area: 'device',
  key: device.deviceId,
  value: device,
  putAt: device.pairedAt,
});

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

/** `seenAt`: when it was connected last, where the record may be older; milliseconds since the epoch. */
export const toWireDevice = (device: DeviceRecord, seenAt: number | null): WireDevice => ({
  device_id: device.deviceId,
  client_id: device.clientId,
  name: device.name,
  kind: device.kind,
  browser: device.browser,
  origin: device.origin,
  paired_at: device.pairedAt / 1_000,
  paired_by: device.pairedBy,
  last_seen_at: seconds(Math.max(device.lastSeenAt ?? 0, seenAt ?? 0) || null),
  revoked_at: seconds(device.revokedAt),
  tools: device.tools,
  waiting: device.waiting.map(({ tool, before, askedAt }) => ({
    tool,
    before,
    asked_at: askedAt / 1_000,
  })),
  denied: device.denied,
});

const HIDDEN = new RegExp(hiddenClass(HIDDEN_RANGES), 'gu');

/** The name of a device in one line, as everyone sees it (rule DV50). */
export function shownName(given: string): string {
  const name = stripInvisible(given.replace(/\p{Cc}+/gu, ' '))
    .replace(/\s+/g, ' ')
    .trim();
  if (name.replace(HIDDEN, '').trim() !== '') return name;
  throw new HttpError('bad_request', 'A device needs a name with a character that shows.');
}
