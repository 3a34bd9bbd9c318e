import { z } from 'zod';
import { closedObject } from './closed-object.ts';
import { PUSH_KINDS } from './push-kinds.ts';

/** Web Push: notes that reach a browser while no page of the workbench is open. Times are Unix seconds. */

/** Why a push service did not take a note. */
export const PUSH_FAILURES = ['unreachable', 'timeout', 'busy', 'redirected', 'refused'] as const;
export type PushFailure = (typeof PUSH_FAILURES)[number];

/** One holder of a token may have so many, and all together. */
export const MOST_PUSH_SUBSCRIPTIONS = { own: 20, all: 500 } as const;

const base64url = z.string().regex(/^[A-Za-z0-9_-]{1,128}={0,2}$/, 'must be base64url');

/** It has what `PushSubscription.toJSON()` has, and what the person chose. */
export const pushSubscriptionBodySchema = closedObject({
  endpoint: z.string().min(1).max(1_024),
  keys: closedObject({ p256dh: base64url, auth: base64url }),
  locale: z.enum(['en', 'zh']).default('en'),
  kinds: z
    .array(z.enum(PUSH_KINDS))
    .min(1)
    .max(PUSH_KINDS.length)
    .default([...PUSH_KINDS]),
  /** A note has the names of tool and client, which a locked screen shows. Not for devices. */
  details: z.boolean().default(false),
});
export type PushSubscriptionBody = z.output<typeof pushSubscriptionBodySchema>;

const lastPushSchema = z.object({
  at: z.number(),
  outcome: z.enum(['delivered', 'failed']),
  /** It is the status of HTTP; null: there was no answer. */
  status: z.number().int().nullable(),
  reason: z.enum(PUSH_FAILURES).nullable(),
});

export const pushSubscriptionSchema = z.object({
  push_id: z.string(),
  /** SHA-256 of the endpoint, hex: by it a browser finds its own. */
  endpoint_sha256: z.string(),
  /** It is that of the push service. */
  host: z.string(),
  browser: z.string(),
  kinds: z.array(z.enum(PUSH_KINDS)),
  details: z.boolean(),
  created_at: z.number(),
  /** When it ends unless its page is opened again. */
  expires_at: z.number(),
  /** The last attempt since the server was started; null: there was none. */
  last: lastPushSchema.nullable(),
});
export type WirePushSubscription = z.infer<typeof pushSubscriptionSchema>;

export const pushStateSchema = z.object({
  /** `push.enabled` of the configuration. */
  enabled: z.boolean(),
  /** The `applicationServerKey`: a P-256 point, uncompressed, base64url. */
  public_key: z.string(),
  /** Push services that may be named, `*` for any label. */
  hosts: z.array(z.string()),
  /** The caller's own. */
  subscriptions: z.array(pushSubscriptionSchema),
});
export type PushState = z.infer<typeof pushStateSchema>;

export const pushTestBodySchema = closedObject({ push_id: z.string().max(128) });
export const pushTestSchema = z.object({
  /** `ended`: the push service does not have the subscription any more, so that it was removed. */
  outcome: z.enum(['delivered', 'failed', 'ended']),
  status: z.number().int().nullable(),
  reason: z.enum(PUSH_FAILURES).nullable(),
});
export type PushTestResult = z.infer<typeof pushTestSchema>;

/** A push message: what the server encrypts, and the service worker of the browser shows. */
export interface PushText {
  readonly v: 1;
  readonly title: string;
  readonly body: string;
  /** On this server. */
  readonly path: string;
  /** A newer note takes the place of the one with its tag. */
  readonly tag: string;
  /** It replaces what was shown, without sound. */
  readonly quiet: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
