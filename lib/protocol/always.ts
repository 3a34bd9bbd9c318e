import { z } from 'zod';
import { closedObject } from './closed-object.ts';
import { BOUND_LIMITS } from './limits.ts';

/** Whose calls a rule of "always" is for; a name may be given again, an id never. */
export const alwaysCallerSchema = z.object({
  /** `run`: the built-in agent, for the caller who has the name and the id. */
  kind: z.enum(['run', 'operator', 'agent', 'device']),
  /** `operator`, `operator:olga`, `agent:bot`. */
  name: z.string(),
  id: z.string(),
});
export type AlwaysCaller = z.infer<typeof alwaysCallerSchema>;

const TESTS = ['is', 'starts_with', 'at_most'] as const;

/** One argument that a rule is bound to: it is this value, a list that begins so, or a number that is not larger. */
export const boundArgumentSchema = closedObject({
  name: z.string().min(1).max(BOUND_LIMITS.nameChars),
  is: z.unknown().optional(),
  starts_with: z.array(z.unknown()).min(1).max(BOUND_LIMITS.startItems).optional(),
  at_most: z.number().optional(),
}).refine((bound) => TESTS.filter((test) => Object.hasOwn(bound, test)).length === 1, {
  error: `it has one of ${TESTS.join(', ')}`,
});
export type BoundArgument = z.infer<typeof boundArgumentSchema>;

export const boundArgumentsSchema = z.array(boundArgumentSchema).min(1).max(BOUND_LIMITS.arguments);

/** Arguments that a rule does not name may be there with any value, or may not be there. */
export const otherArgumentsSchema = z.enum(['any', 'none']);

/** A rule that has been used so often is over. */
export const alwaysUsesSchema = z.number().int().min(1).max(10_000);

/** An "always" says so of the arguments of its calls. */
export interface BoundArguments {
  /** Empty: any arguments. */
  readonly arguments: readonly BoundArgument[];
  readonly other_arguments: z.infer<typeof otherArgumentsSchema>;
}

export const alwaysOfferSchema = z.object({
  tool_name: z.string(),
  client_id: z.string().nullable(),
  run_id: z.string(),
  tool_hash: z.string(),
  /** Cards of earlier versions have none. */
  caller: alwaysCallerSchema.optional(),
  /**
   * `exact`: it is for these arguments alone. `never`: it is for any arguments, as they cannot be
   * checked. Left out: either.
   */
  binding: z.enum(['exact', 'never']).optional(),
});
export type AlwaysOffer = z.infer<typeof alwaysOfferSchema>;

export const ALWAYS_SCOPES = ['run', 'saved'] as const;
export type AlwaysScope = (typeof ALWAYS_SCOPES)[number];

/** A rule that a person made of a question: such calls of that caller are not asked about. */
export const alwaysRuleSchema = z.object({
  id: z.string(),
  run_id: z.string(),
  tool_name: z.string(),
  /** Null: the server's own tool. */
  client_id: z.string().nullable(),
  /** `saved`: it holds in each run of the same owner. */
  scope: z.enum(ALWAYS_SCOPES),
  caller: alwaysCallerSchema,
  /** Empty: any arguments. */
  bound: z.array(boundArgumentSchema),
  other_arguments: otherArgumentsSchema,
  /** The files, or what else the arguments refer to, have to be as they were. */
  has_operands: z.boolean(),
  /** Null: any number of calls. */
  uses: z.number().int().nullable(),
  used: z.number().int(),
  /** Unix seconds. */
  allowed_at: z.number(),
  allowed_by: z.string(),
  /** Null: when it is withdrawn. */
  expires_at: z.number().nullable(),
  /** To the minute; null: not yet. */
  last_used_at: z.number().nullable(),
});
export type WireAlwaysRule = z.infer<typeof alwaysRuleSchema>;
export const alwaysAllowedSchema = z.object({ always: z.array(alwaysRuleSchema) });
