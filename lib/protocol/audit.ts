import { z } from 'zod';
import { AUDITED_ACTS } from './audited-acts.ts';
import { closedObject } from './closed-object.ts';

/** People did this, as `GET /v1/audit` sends it. */
const auditEntrySchema = z.object({
  /** Rises with each entry. */
  seq: z.number().int().positive(),
  /** Unix seconds. */
  at: z.number(),
  /** `operator`, `operator:<name>`. */
  actor: z.string(),
  /** Null: the token of the first run. */
  token_id: z.string().nullable(),
  /** It is the peer's. */
  address: z.string(),
  act: z.enum(AUDITED_ACTS),
  /** The id of the token, call or rule that it was done to; null for a sign-in or sign-out. */
  target: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
});
export type WireAuditEntry = z.infer<typeof auditEntrySchema>;

export const auditQuerySchema = closedObject({
  actor: z.string().min(1).max(128).optional(),
  act: z.enum(AUDITED_ACTS).optional(),
  /** The `next_cursor` of the page before. */
  cursor: z.coerce.number().int().positive().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export const auditPageSchema = z.object({
  entries: z.array(auditEntrySchema),
  next_cursor: z.number().int().nullable(),
});
export type WireAuditPage = z.infer<typeof auditPageSchema>;
