import { z } from 'zod';
import { closedObject } from './closed-object.ts';
import { DEVICE_NAME_CHARS } from './pairing-code.ts';
import { toolAnnotationsSchema, toolSpecSchema } from './tool-spec.ts';

/**
 * Pairing and devices. A device is a page, phone or program that a person let in: it has a token
 * and a client id of its own, and offers only tools that a person has seen. Times are Unix seconds.
 */

// A file of its own: a page that reads codes does not load zod.
export { PAIRING_ALPHABET, PAIRING_CODE_CHARS, readPairingCode } from './pairing-code.ts';

/** `cb_device_` and 256 random bits as base64url, which the device makes by itself. */
const DEVICE_TOKEN = /^cb_device_[A-Za-z0-9_-]{43}$/;

const deviceNameSchema = z.string().trim().min(1).max(DEVICE_NAME_CHARS);

const kindSchema = z.enum(['tab', 'phone', 'program']);

/** Whose server it is, as both screens show it. */
export const workbenchSchema = z.object({
  name: z.string(),
  /** Four words of the server's identity, by their numbers in `lib/i18n/fingerprint-words`. */
  fingerprint: z.array(z.number().int().min(0).max(255)).length(4),
});
export type Workbench = z.infer<typeof workbenchSchema>;

/**
 * A tool of a device, as the server has checked it and a person allows it: texts have no limit of
 * their own here, since a title that was checked may stand as `display_name`, and what is secret
 * may be replaced by something longer. `hash` is of all that is shown, and of the time limit.
 */
export const deviceToolSchema = toolSpecSchema.extend({
  display_name: z.string().optional(),
  annotations: toolAnnotationsSchema.extend({ title: z.string().optional() }).optional(),
  hash: z.string(),
});
export type DeviceTool = z.infer<typeof deviceToolSchema>;

/** Most tools that one pairing or device has. */
export const MOST_DEVICE_TOOLS = 128;

// A device sends these without a credential: `/api/pairing/*`.

/** `POST /api/pairing/look`: whose code is it? Counts as a try where it is none. */
export const lookBodySchema = closedObject({ code: z.string().max(32) });
export const lookSchema = z.object({ workbench: workbenchSchema, expires_at: z.number() });

/**
 * `POST /api/pairing/join`: asks a person to let this device in. With `code` by a link or a typed
 * code, which it uses up; without one from a page of another origin, which is named by its `Origin`.
 */
export const joinBodySchema = closedObject({
  code: z.string().max(32).optional(),
  /** SHA-256 of the token, hex; the token itself is sent when the device connects, and not before. */
  token_hash: z.string().regex(/^[0-9a-f]{64}$/, 'the SHA-256 of the token, as 64 hex digits'),
  name: deviceNameSchema,
  kind: kindSchema,
  tools: z.array(z.unknown()).max(MOST_DEVICE_TOOLS),
});
export type JoinBody = z.infer<typeof joinBodySchema>;
export const joinedSchema = z.object({
  pairing_id: z.string(),
  expires_at: z.number(),
  workbench: workbenchSchema,
  /** Tools that are no tools, as in `tools_registered`. */
  rejected: z.array(z.object({ name: z.string(), code: z.string(), message: z.string() })),
});

/** `POST /api/pairing/outcome`: what became of it, by the token, at any time and any number of times. */
export const outcomeBodySchema = closedObject({
  token: z.string().regex(DEVICE_TOKEN, 'a token that this device made for itself'),
  /** Hold the answer while it is `waiting`. */
  wait_ms: z.number().int().min(0).max(25_000).default(0),
});
export const outcomeSchema = z.object({
  /** `unknown`: nothing of this token is known (any more): pair again. */
  state: z.enum(['waiting', 'approved', 'denied', 'expired', 'revoked', 'unknown']),
  workbench: workbenchSchema,
  /** One that is approved has it. */
  device: z.object({ device_id: z.string(), client_id: z.string(), name: z.string() }).optional(),
  /** One that waits has it. */
  expires_at: z.number().optional(),
});
export type Outcome = z.infer<typeof outcomeSchema>;

// Operators see and decide these: `/v1/pairings`, `/v1/devices`.

export const pairingSchema = z.object({
  pairing_id: z.string(),
  /**
   * `open`: nothing has used the code yet. `asking`: a device waits for a person. `burned`: too many
   * wrong codes were tried meanwhile.
   */
  state: z.enum(['open', 'asking', 'approved', 'denied', 'expired', 'burned', 'withdrawn']),
  created_at: z.number(),
  /** Null: a page asked by itself. */
  created_by: z.string().nullable(),
  expires_at: z.number(),
  request: z
    .object({
      name: z.string(),
      kind: kindSchema,
      /** In words, from `User-Agent`: `Chrome on Android`. Not a proof of anything. */
      browser: z.string(),
      /** It is the peer's. */
      address: z.string(),
      /** A page of another origin has it. */
      origin: z.string().nullable(),
      tools: z.array(deviceToolSchema),
      asked_at: z.number(),
    })
    .nullable(),
  /** Once it is approved. */
  device_id: z.string().nullable(),
  decided_by: z.string().nullable(),
  decided_at: z.number().nullable(),
});
export type WirePairing = z.infer<typeof pairingSchema>;

/** `POST /v1/pairings`: the code is in this response and nowhere else. */
export const openedPairingSchema = pairingSchema.extend({
  code: z.string(),
  /** One for each address under which a phone may reach this server, most likely first. */
  links: z.array(z.string()),
  workbench: workbenchSchema,
});
export type OpenedPairing = z.infer<typeof openedPairingSchema>;

/** `GET /v1/pairings`: those that are open or ask, and those decided in the last ten minutes. */
export const pairingsSchema = z.object({ pairings: z.array(pairingSchema) });

/** `POST /v1/pairings/:id/decision`. */
export const pairingDecisionBodySchema = closedObject({
  decision: z.enum(['approve', 'deny']),
  /** Another name than the device gave itself. */
  name: deviceNameSchema.optional(),
  /** Names of those that it may offer; all that it asked for when not given. */
  tools: z.array(z.string()).max(MOST_DEVICE_TOOLS).optional(),
  /** The origin of a page is not asked about again after `deny`, until a person lifts that. */
  block: z.boolean().optional(),
});

export const deviceSchema = z.object({
  device_id: z.string(),
  client_id: z.string(),
  name: z.string(),
  kind: kindSchema,
  browser: z.string(),
  /** The token of a page of another origin counts from there alone. */
  origin: z.string().nullable(),
  paired_at: z.number(),
  paired_by: z.string(),
  last_seen_at: z.number().nullable(),
  revoked_at: z.number().nullable(),
  /** It may offer these. */
  tools: z.array(deviceToolSchema),
  /** It offered these otherwise, or anew, and they wait for a person; `before` is as it was allowed. */
  waiting: z.array(
    z.object({ tool: deviceToolSchema, before: deviceToolSchema.nullable(), asked_at: z.number() }),
  ),
  /** A person did not allow these, as they were then: they are not asked about again. */
  denied: z.array(deviceToolSchema),
});
export type WireDevice = z.infer<typeof deviceSchema>;

export const devicesQuerySchema = closedObject({
  cursor: z.string().max(128).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(50),
});
/** `GET /v1/devices`: newest first, revoked ones as well. */
export const devicesPageSchema = z.object({
  devices: z.array(deviceSchema),
  next_cursor: z.string().nullable(),
});

/** `PUT /v1/devices/:id`. */
export const renameDeviceBodySchema = closedObject({ name: deviceNameSchema });

/**
 * `POST /v1/devices/:id/tools`: decides by the hashes that the person saw. `allow` is of what waits
 * or was denied, `deny` of what waits or is allowed.
 */
export const deviceToolsBodySchema = closedObject({
  allow: z.array(z.string()).max(MOST_DEVICE_TOOLS).default([]),
  deny: z.array(z.string()).max(MOST_DEVICE_TOOLS).default([]),
});

/** `GET /v1/blocked-origins`: pages that may not ask. `DELETE /v1/blocked-origins?origin=…` lifts it. */
export const blockedOriginSchema = z.object({
  origin: z.string(),
  blocked_at: z.number(),
  blocked_by: z.string(),
});
export type BlockedOrigin = z.infer<typeof blockedOriginSchema>;
export const blockedOriginsSchema = z.object({ origins: z.array(blockedOriginSchema) });
export const blockedOriginQuerySchema = closedObject({ origin: z.string().min(1).max(512) });
