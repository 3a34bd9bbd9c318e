import { z } from 'zod';
import { closedObject } from './closed-object.ts';
import { NOTICE_TYPES } from './notice.ts';

/** `open`: it is still to be sent. The rest is final, until a person sends it again. */
export const DELIVERY_STATES = [
  'open',
  'delivered',
  'failed',
  /** More waited for the target than may. */
  'dropped',
  /** Before it could be sent, the approval was decided or its call ended, or it was too late for it. */
  'obsolete',
  /** Its target is not there any more. */
  'removed',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const noticeTypeSchema = z.enum(NOTICE_TYPES);
/** Unix seconds. */
const time = z.number().nullable();

export const wireTargetSchema = z.object({
  /** E.g. `webhook:ops`. */
  id: z.string(),
  /** `off`: it answered 410, and waits for a person. `slowed`: it asked to be sent less. */
  state: z.enum(['on', 'slowed', 'off']),
  slowed_until: time,
  off_since: time,
  /** Attempts since the last that was accepted. */
  failures_in_row: z.int().nonnegative(),
  /** Deliveries that are still to be sent. */
  open: z.int().nonnegative(),
  /** It is that of its address; null for a kind that has none to show. */
  host: z.string().nullable(),
  /** Null: it chooses itself. */
  events: z.array(noticeTypeSchema).nullable(),
});
export type WireTarget = z.infer<typeof wireTargetSchema>;

/** `GET /v1/notify/targets`. */
export const targetsSchema = z.object({
  targets: z.array(wireTargetSchema),
  limits: z.object({
    /** Deliveries that may wait for one target; beyond it the oldest is dropped. */
    open_per_target: z.int(),
    /** Attempts of one delivery. */
    attempts: z.int(),
    /** How long ended ones are kept, and how many of them. */
    kept_days: z.int(),
    kept: z.int(),
  }),
});
export type WireTargets = z.infer<typeof targetsSchema>;

export const wireDeliverySchema = z.object({
  id: z.string(),
  notice_id: z.string(),
  type: noticeTypeSchema,
  target: z.string(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.int().nonnegative(),
  made_at: z.number(),
  tried_at: time,
  next_at: time,
  /** It is the status of HTTP of the last attempt. */
  status: z.int().nullable(),
  /** Why the last attempt failed. */
  error: z.string().nullable(),
  /** The name of the tool or client, or the title of the run. */
  about: z.string(),
  /** Path on this workbench. */
  link: z.string(),
});
export type WireDelivery = z.infer<typeof wireDeliverySchema>;

/** `GET /v1/notify/deliveries`. */
export const deliveriesQuerySchema = closedObject({
  /** The `next_cursor` of the page before. */
  cursor: z.string().max(64).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export const deliveriesPageSchema = z.object({
  deliveries: z.array(wireDeliverySchema),
  next_cursor: z.string().nullable(),
});
export type WireDeliveries = z.infer<typeof deliveriesPageSchema>;
