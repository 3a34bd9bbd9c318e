import { z } from 'zod';
import { closedObject } from '../protocol/closed-object.ts';
import { pathIdSchema } from '../protocol/path-id.ts';
import { AUTONOMY_LEVELS } from './autonomy.ts';
import {
  CALL_ORIGINS,
  CALLING_KINDS,
  CALLING_ROLES,
  POLICY_EFFECTS,
  policyDefinitionSchema,
} from './policy-definition.ts';

export type WireAutonomy = z.infer<typeof autonomySchema>;
export const autonomySchema = z.object({
  /** For all runs that have none of their own. */
  level: z.enum(AUTONOMY_LEVELS),
  runs: z.array(
    z.object({ run_id: z.string(), level: z.enum(AUTONOMY_LEVELS), set_at: z.number() }),
  ),
});

const hookStateSchema = z.object({
  name: z.string(),
  /** The configuration file names it so. */
  module: z.string(),
  /** Null: it is asked for all. */
  tools: z.array(z.string()).nullable(),
  timeout_ms: z.number(),
  security: z.boolean(),
  /** Asked before calls, about results. */
  before: z.boolean(),
  after: z.boolean(),
  /** Since the start of the server. */
  failures: z.int().nonnegative(),
  /** Unix seconds. */
  last_failure: z.object({ at: z.number(), message: z.string() }).nullable(),
});
export type HookState = z.infer<typeof hookStateSchema>;

/** `GET /v1/policy`. */
export const policyStateSchema = z.object({
  policy: policyDefinitionSchema,
  /** The configuration file; null: there was none, and what is without one counts. */
  file: z.string().nullable(),
  /** Unix seconds. */
  loaded_at: z.number(),
  /** Why the configuration file, as it is now, does not count; the policy of before does. */
  problem: z.string().nullable(),
  autonomy: autonomySchema,
  /** In the order in which they are asked. */
  hooks: z.array(hookStateSchema),
});
export type PolicyStateAnswer = z.infer<typeof policyStateSchema>;

/** `PUT /v1/policy/autonomy`. Without `run_id` for all; null is for a run, and takes away its own level. */
export const autonomyBodySchema = closedObject({
  level: z.enum(AUTONOMY_LEVELS).nullable(),
  run_id: pathIdSchema.optional(),
}).refine(({ level, run_id }) => level !== null || run_id !== undefined, {
  path: ['level'],
  message: 'null is for one run alone; name it by run_id',
});

const callerSchema = closedObject({
  kind: z.enum(CALLING_KINDS),
  name: z.string().min(1).max(128),
  role: z.enum(CALLING_ROLES).optional(),
});

/** `POST /v1/policy/dry-run`. */
export const dryRunBodySchema = closedObject({
  /** `name` or `name@client`. */
  tool: z.string().min(1).max(256),
  args: z.record(z.string(), z.unknown()).default({}),
  /** Yourself, when left out. */
  caller: callerSchema.optional(),
  via: z.enum(CALL_ORIGINS).default('http'),
  /** The autonomy of this one counts. */
  run_id: pathIdSchema.optional(),
  /** To be tried in place of the one that counts. */
  policy: policyDefinitionSchema.optional(),
});
export type DryRunBody = z.input<typeof dryRunBodySchema>;

export const dryRunAnswerSchema = z.object({
  effect: z.enum(POLICY_EFFECTS),
  /** The rule that decided: its name, or its place in the file; null where none did. */
  rule: z.string().nullable(),
  reason: z.string(),
  /** The rules were asked about this call. */
  tool_name: z.string(),
  caller: callerSchema,
  via: z.enum(CALL_ORIGINS),
  client_id: z.string().nullable(),
  access: z.enum(['read', 'write']),
  schema_hash: z.string(),
  args: z.record(z.string(), z.unknown()),
  /** These limits count such a call; with one that has none left it is refused, but for a denied one. */
  limits: z.array(
    z.object({
      limit: z.string(),
      left: z.int().nonnegative(),
      /** Seconds until one more; 0 while one is left. */
      retry_after: z.int().nonnegative(),
    }),
  ),
});
export type DryRunAnswer = z.infer<typeof dryRunAnswerSchema>;
