import { z } from 'zod';
import { closedObject } from './closed-object.ts';
import { ROLES } from './role.ts';
import { ALLOWED_TOOL, MOST_ALLOWED, TOKEN_NAME } from './token-names.ts';

/** Tokens as `/v1/tokens` sends and takes them. Times are Unix seconds. */

/** A live token of its kind has it alone. */
const nameSchema = z
  .string()
  .regex(
    TOKEN_NAME,
    'a name has 1 to 64 letters, digits and the signs . _ -, and begins with a letter or a digit',
  );

const roleSchema = z.enum(ROLES);

const allowedToolSchema = z
  .string()
  .regex(ALLOWED_TOOL, 'the name of a tool, or prefix.* for a family');

export const newTokenBodySchema = z.discriminatedUnion('kind', [
  closedObject({
    kind: z.literal('operator'),
    name: nameSchema,
    role: roleSchema.default('operator'),
  }),
  closedObject({
    kind: z.literal('agent'),
    name: nameSchema,
    tools: z.array(allowedToolSchema).max(MOST_ALLOWED).default([]),
  }),
]);
export type NewTokenBody = z.input<typeof newTokenBodySchema>;

export const tokenSchema = z.object({
  id: z.string(),
  kind: z.enum(['operator', 'agent', 'device']),
  name: z.string(),
  /** An operator has it, else it is null. */
  role: roleSchema.nullable(),
  /** An agent has it, else it is null. */
  tools: z.array(z.string()).nullable(),
  /** A device has it, else it is null. */
  client_id: z.string().nullable(),
  /** The token of the first run: it is kept in the data directory, and not revoked here. */
  built_in: z.boolean(),
  created_at: z.number().nullable(),
  created_by: z.string().nullable(),
  /** To the minute; null when it was never used, and of the one of the first run. */
  last_used_at: z.number().nullable(),
  revoked_at: z.number().nullable(),
});
export type WireToken = z.infer<typeof tokenSchema>;

/** The one who makes a request, as `GET /v1/me` sends it. `token_id` is null for the token of the first run. */
export const meSchema = tokenSchema
  .pick({ kind: true, name: true, role: true, tools: true, client_id: true })
  .extend({ token_id: z.string().nullable() });
export type WireMe = z.infer<typeof meSchema>;

/** `secret` is the token itself; it is sent this once and stored nowhere. */
export const createdTokenSchema = tokenSchema.extend({ secret: z.string() });
export type CreatedToken = z.infer<typeof createdTokenSchema>;

export const tokensQuerySchema = closedObject({
  cursor: z.string().max(128).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export const tokensPageSchema = z.object({
  tokens: z.array(tokenSchema),
  next_cursor: z.string().nullable(),
});
export type TokensPage = z.infer<typeof tokensPageSchema>;
