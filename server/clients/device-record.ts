import { hash } from 'node:crypto';
import { z } from 'zod';
import {
  type DeviceTool,
  deviceToolSchema,
  MOST_DEVICE_TOOLS,
  type WireDevice,
} from '#lib/protocol/device';
import { HttpError } from '#lib/protocol/http-error';
import { HIDDEN_RANGES, hiddenClass, stripInvisible } from '#lib/text/invisible';
import { given } from '#lib/util/given';
import type { KeptEntry } from '../store/room.ts';
import type { CheckedSpec, CheckedTool } from '../tools/room.ts';

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

type Tools = Pick<DeviceRecord, 'tools' | 'waiting' | 'denied'>;

/** All that is kept of the tools of one device has so much as JSON. */
const MOST_BYTES = 2 * 1024 * 1024;

export type Admission = 'allowed' | 'waiting' | 'denied' | 'too_many';

/**
 * Decides what becomes of a tool as the device offers it now. One that is neither allowed nor denied waits,
 * in the place of an earlier form of it that waits.
 */
export function offerTool<T extends Tools>(
  device: T,
  tool: DeviceTool,
  now: number,
): { readonly device: T; readonly admission: Admission } {
  const others = device.waiting.filter((one) => one.tool.name !== tool.name);
  const isOf = (list: readonly DeviceTool[]) => list.some(({ hash }) => hash === tool.hash);
  const withdrawn = others.length < device.waiting.length ? { ...device, waiting: others } : device;
  if (isOf(device.tools)) return { device: withdrawn, admission: 'allowed' };
  if (isOf(device.denied)) return { device: withdrawn, admission: 'denied' };
  if (device.waiting.some((one) => one.tool.hash === tool.hash)) {
    return { device, admission: 'waiting' };
  }
  const before = device.tools.find(({ name }) => name === tool.name) ?? null;
  const after = { ...device, waiting: [...others, { tool, before, askedAt: now }] };
  const isTooMuch = others.length >= MOST_DEVICE_TOOLS || bytesOf(after) > MOST_BYTES;
  return isTooMuch ? { device, admission: 'too_many' } : { device: after, admission: 'waiting' };
}

/** `unknown`: one of the hashes is of no tool that could be decided on so. */
export function decideTools<T extends Tools>(
  device: T,
  allow: readonly string[],
  deny: readonly string[],
): T | 'unknown' | 'too_many' {
  const waiting = device.waiting.map(({ tool }) => tool);
  const allowed = pick([...waiting, ...device.denied], allow);
  const denied = pick([...waiting, ...device.tools], deny);
  if (!allowed || !denied || allow.some((hash) => deny.includes(hash))) return 'unknown';
  const names = new Set(allowed.map(({ name }) => name));
  const decided = new Set([...allow, ...deny]);
  const rest = ({ hash }: DeviceTool) => !decided.has(hash);
  const tools = device.tools.filter((one) => rest(one) && !names.has(one.name));
  if (tools.length + allowed.length > MOST_DEVICE_TOOLS) return 'too_many';
  return {
    ...device,
    tools: [...tools, ...allowed],
    waiting: device.waiting.filter(({ tool }) => rest(tool)),
    // The tools that were denied last are remembered.
    denied: [...device.denied.filter(rest), ...denied].slice(-MOST_DEVICE_TOOLS),
  };
}

function pick(from: readonly DeviceTool[], hashes: readonly string[]): DeviceTool[] | undefined {
  const found = [...new Set(hashes)].flatMap((hash) => from.find((one) => one.hash === hash) ?? []);
  return found.length === new Set(hashes).size ? found : undefined;
}

/** Counts the tools of a device as JSON; the forms before those that wait are not counted. */
export const bytesOf = ({ tools, waiting, denied }: Tools): number =>
  [...tools, ...waiting.map(({ tool }) => tool), ...denied].reduce(
    (sum, tool) => sum + sizeOf(tool),
    0,
  );

/** Measured once: with each tool that is offered the sizes of all others are added up. */
const sizes = new WeakMap<DeviceTool, number>();

function sizeOf(tool: DeviceTool): number {
  const known = sizes.get(tool);
  if (known !== undefined) return known;
  const size = Buffer.byteLength(JSON.stringify(tool));
  sizes.set(tool, size);
  return size;
}

/** A person allows all that is shown of the tool, and how long it may run. */
const hashOf = ({ toolHash, timeoutMs }: CheckedTool): string =>
  hash('sha256', `${toolHash} ${timeoutMs}`, 'base64url');

export function toDeviceTool(tool: CheckedTool): DeviceTool {
  const { name, description, schema, timeoutMs, displayName, annotations } = tool;
  return {
    name,
    description,
    parameters: { ...schema },
    timeout_ms: timeoutMs,
    ...given({ display_name: displayName }),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    hash: hashOf(tool),
  };
}

/** Gives the tools that are right by themselves, each name once. */
export const toDeviceTools = (checked: readonly CheckedSpec[]): DeviceTool[] => [
  ...new Map(
    checked.flatMap((one) => (one.ok ? [[one.tool.name, toDeviceTool(one.tool)]] : [])),
  ).values(),
];
