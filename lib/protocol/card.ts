import { z } from 'zod';
import { alwaysOfferSchema } from './always.ts';
import { approvalReasonSchema, POLICY_REASON_CODES, readBeforeSchema } from './approval-reason.ts';
import { attachmentSchema } from './attachment.ts';
import {
  callClockSchema,
  callErrorSchema,
  callPhaseSchema,
  cardStatusSchema,
} from './call-status.ts';

export const progressSchema = z.object({
  done: z.number().nonnegative(),
  total: z.number().positive().optional(),
});

/** Bytes of the whole of a value that is shown by its beginning; null when it is whole again. */
const wholeBytesSchema = z.number().int().nonnegative().nullable().optional();

/** The clock that runs for a call now. `deadline_at` is null while the clock is paused. */
const cardClockSchema = z.object({
  name: callClockSchema,
  deadline_at: z.number().nullable(),
  /** Milliseconds left when the clock was stopped. */
  remaining_ms: z.number().optional(),
});

/** `keys`: the arguments that it changed, added or took out. */
const hookNoteSchema = z.object({
  name: z.string(),
  did: z.enum(['changed_arguments', 'asked', 'cancelled', 'changed_result', 'failed']),
  keys: z.array(z.string()).optional(),
});
export type HookNote = z.infer<typeof hookNoteSchema>;

/** A person said this to a call that waited for approval, or for an answer. */
const approvalDecisionSchema = z.object({
  /** `operator`, or `operator:<name>`. */
  by: z.string(),
  decision: z.enum(['yes', 'no', 'always', 'answer']),
  /** `params` are what that person wrote in place of the arguments. */
  edited: z.boolean().optional(),
  note: z.string().optional(),
  /** How many equal calls it decided, with this one; absent: this one alone. */
  calls: z.number().int().positive().optional(),
});

/** It was not asked about: a person had made this rule, which the list of rules shows whole. */
const allowedByRuleSchema = z.object({
  id: z.string(),
  by: z.string(),
  /** The arguments that it is bound to; empty: any. */
  names: z.array(z.string()),
  /** The number of this use, and how many there are; not there where any number is allowed. */
  use: z.number().int().optional(),
  uses: z.number().int().optional(),
});

/**
 * One update of a card, and also the shape of the card itself: a card is what
 * its updates merge to. Times are Unix seconds. Merge rules: contract, section 2.
 */
export const cardUpdateSchema = z.object({
  status: cardStatusSchema.optional(),
  phase: callPhaseSchema.nullable().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  /** `params` are all the arguments, as the executor gets them: they replace what was shown before. */
  params_whole: z.boolean().optional(),
  /** Which of `params` are arguments; given once a client's status has added others. */
  argument_names: z.array(z.string()).optional(),
  /** The client that runs it reported these as `params`, by key: shown beside the arguments. */
  status_params: z.record(z.string(), z.unknown()).optional(),
  /**
   * Arguments that were repaired before the call ran, as their schema asks: the first ten paths
   * (empty for the arguments as a whole), and how many there are. Null: the newest needed none.
   */
  repairs: z
    .object({ paths: z.array(z.string()), count: z.number().int().positive() })
    .nullable()
    .optional(),
  tip: z.string().nullable().optional(),
  preview: z.unknown().optional(),
  /** For people: `display` where the tool gave one, else its output. */
  result: z.unknown().optional(),
  /**
   * True while a value of the card is only the beginning of one over 16 KiB. Which
   * one, and the bytes of the whole, is given by those of the next four that are
   * numbers. The whole is in the call's record.
   */
  truncated: z.boolean().optional(),
  params_bytes: wholeBytesSchema,
  result_bytes: wholeBytesSchema,
  preview_bytes: wholeBytesSchema,
  error_bytes: wholeBytesSchema,
  error: callErrorSchema.nullable().optional(),
  progress: progressSchema.optional(),
  attachments: z.array(attachmentSchema).optional(),
  clock: cardClockSchema.nullable().optional(),
  tool_name: z.string().optional(),
  display_name: z.string().nullable().optional(),
  /** `server`, `client`, or the kind of another provider of tools. */
  source: z.string().optional(),
  client_id: z.string().nullable().optional(),
  client_name: z.string().nullable().optional(),
  attempt: z.number().int().optional(),
  timeout_ms: z.number().optional(),
  created_at: z.number().optional(),
  started_at: z.number().nullable().optional(),
  completed_at: z.number().nullable().optional(),
  /**
   * The arguments are still being written: the last value of `params` may be cut short, and of a
   * value over 400 characters there is only the end, after `…`.
   */
  partial: z.boolean().optional(),
  /** Hooks of the configuration did this to the call, in that order; all of it. */
  hooks: z.array(hookNoteSchema).optional(),
  /** Why an approval is needed; set with the phase `approval`. */
  approval_reason: z.string().nullable().optional(),
  /**
   * The rule that "always" would write: the tool as it is described now, of that client (null: the
   * server's own). Null: it cannot be said to this call.
   */
  always_rule: alwaysOfferSchema.nullable().optional(),
  /** A person answers it in place of a tool, in this way (one of `QUESTION_INPUTS`, or of a later version's); `params` are the question. */
  question: z.string().optional(),
  /** Which of the server's own reasons that is, for pages to show it in their language. */
  approval_reason_code: z.enum([...POLICY_REASON_CODES, 'changed']).optional(),
  /** The run had read this, where that is a reason; it stands behind the one of the code. */
  approval_reason_params: readBeforeSchema.nullable().optional(),
  /** Each of them, where there are several; `approval_reason` has their texts. Empty: one alone. */
  approval_reasons: z.array(approvalReasonSchema).optional(),
  /** The schema of the tool has a part that is not checked, so the arguments may not be what the tool takes. */
  args_unchecked: z.boolean().optional(),
  /** The arguments refer to these, and a yes is for them as they were then: the first ten, such as files with the beginning of their SHA-256, and how many there are. */
  approval_operands: z
    .object({
      first: z.array(z.object({ name: z.string(), hash: z.string().optional() })),
      count: z.number().int().positive(),
    })
    .nullable()
    .optional(),
  allowed_by_rule: allowedByRuleSchema.optional(),
  /** The same for calls that one decision decides. */
  approval_key: z.string().optional(),
  /** The first decision, which counts. Null: it is asked again. */
  approval_decision: approvalDecisionSchema.nullable().optional(),
  /** The one who asked to stop it, or the run that made it: the name of the principal. */
  cancelled_by: z.string().optional(),
  /** The tool's answer came after the end; it changed nothing. */
  late_result: z.boolean().optional(),
  /** The call that this one retries. */
  retry_of: z.string().nullable().optional(),
  /** The call whose sub-agent made this one. */
  parent_call_id: z.string().optional(),
  /** `agent:<name>`: the program that asked for it with a token of its own. Of no other caller. */
  requested_by: z.string().optional(),
  /** The id by which the model that made the call knows it. */
  model_call_id: z.string().optional(),
});
export type CardUpdate = z.infer<typeof cardUpdateSchema>;

/** A card as far as it is known: the merge of its updates so far. */
export type Card = CardUpdate & { params: Record<string, unknown> };
