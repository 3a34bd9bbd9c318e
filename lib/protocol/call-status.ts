import { z } from 'zod';

/** Durable status of a call (contract, section 2). */
export const callStatusSchema = z.enum(['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'TIMEOUT']);
export type CallStatus = z.infer<typeof callStatusSchema>;

export const callPhaseSchema = z.enum([
  'streaming',
  /** It waits until fewer questions of its run or its caller wait for a person. */
  'held',
  'approval',
  'queued',
  'offered',
  'granted',
  'device',
  'cancelling',
]);
export type CallPhase = z.infer<typeof callPhaseSchema>;

/** People see these on a card. */
export const cardStatusSchema = z.enum(['WAIT', 'DOING', 'SUCCESS', 'ERROR']);
export type CardStatus = z.infer<typeof cardStatusSchema>;

const CARD_STATUS: Record<CallStatus, CardStatus> = {
  PENDING: 'WAIT',
  RUNNING: 'DOING',
  SUCCEEDED: 'SUCCESS',
  FAILED: 'ERROR',
  TIMEOUT: 'ERROR',
};

/** The only place where a durable status becomes a card's. */
export const toCardStatus = (status: CallStatus): CardStatus => CARD_STATUS[status];

export const callClockSchema = z.enum([
  'approval',
  'queue',
  'start',
  'execute',
  'resume',
  'cancel',
]);
export type CallClock = z.infer<typeof callClockSchema>;

export const callErrorCodeSchema = z.enum([
  'tool_error',
  'invalid_args',
  'denied',
  'approval_expired',
  'cancelled',
  'no_provider',
  'client_disconnected',
  'outcome_unknown',
  'result_invalid',
  'result_too_large',
  'interrupted',
  'timeout',
]);
export type CallErrorCode = z.infer<typeof callErrorCodeSchema>;

/** It says which of several causes of one code it was, for pages to show it in their language. */
export const CALL_ERROR_REASONS = [
  /** `no_provider`: the model named a tool that it was not offered in that step. */
  'not_offered',
  /** `no_provider`: the model called without naming a tool. */
  'no_name',
  /** `denied`: one step of a model made more calls than may run. */
  'too_many_calls',
  /** `denied`: a call that ends the turn came with others. */
  'not_alone',
  /** `denied`: the model made the same call before, and got the same result each time. */
  'repeated_call',
  /** `denied`: so many calls wait for a person's decision that no more may. */
  'too_many_approvals',
  /** `denied`: people were asked so often within an hour that no more may be. */
  'approval_rate',
  /** `denied`: what an argument refers to changed after a person was asked; `params.name` is its name. */
  'content_changed',
  /** `denied`: a limit of the policy on how often calls are made. */
  'rate_limited',
  /** `invalid_args`: the model wrote arguments that are not one JSON object. */
  'arguments_unreadable',
  /** `invalid_args`: the output limit of the model was reached within the arguments. */
  'arguments_cut',
  /** `invalid_args`: the model stopped before the arguments were complete. */
  'arguments_incomplete',
  /** `outcome_unknown`, `client_disconnected`: the client left and did not come back in time. */
  'client_left',
  /** The same codes: a person revoked the client while it had the call. */
  'client_revoked',
  /** `outcome_unknown`: the client came back without a trace of the call. */
  'client_back',
  /** The MCP server that ran it was lost; `params.name` is its id. */
  'server_left',
] as const;
export type CallErrorReason = (typeof CALL_ERROR_REASONS)[number];

/** Why a call did not succeed. `executed` is whether the tool ran, `unknown` included. */
export const callErrorSchema = z.object({
  code: callErrorCodeSchema,
  message: z.string(),
  executed: z.enum(['no', 'yes', 'unknown']),
  /** The clock that ran out, with `timeout`. */
  clock: callClockSchema.optional(),
  /** One of `CALL_ERROR_REASONS`, or of a later version's. */
  reason: z.string().optional(),
  /** The reason is about these, for pages to show it in their language. */
  params: z.record(z.string(), z.string()).optional(),
  /** A client's own word for the kind of error, e.g. `permission_denied`. */
  client_code: z.string().optional(),
});
export type CallError = z.infer<typeof callErrorSchema>;
