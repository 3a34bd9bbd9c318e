import { z } from 'zod';
import {
  ALWAYS_SCOPES,
  alwaysUsesSchema,
  boundArgumentsSchema,
  otherArgumentsSchema,
} from './always.ts';
import { callEventSchema, listedCallSchema } from './call-record.ts';
import { callStatusSchema } from './call-status.ts';
import { closedObject } from './closed-object.ts';
import { failureText } from './failure-text.ts';
import { LIMITS } from './limits.ts';
import { modelTurnSchema } from './model-turn.ts';
import { pathIdSchema } from './path-id.ts';
import { modelListingSchema, runRecordSchema, runSettingsSchema, runSummarySchema } from './run.ts';
import { offerSchema, runToolSchema } from './run-tools.ts';
import { toolCallRequestSchema } from './server-messages.ts';
import { STREAM_LIMITS } from './stream.ts';
import { isToolName, LONGEST_TOOL_NAME } from './tool-name.ts';
import { rejectionsShape, toolListingSchema } from './tool-spec.ts';
import { approvalListingSchema } from './watch-messages.ts';

/** Bodies and queries of the HTTP API (contract, sections 6 and 7). Unknown fields of bodies are passed over, but where a `closedObject` refuses them; lists refuse unknown parameters: a filter that is passed over would list what was not asked for. */

const id = z.string().min(1).max(128);
/** The client whose person asks for this: of several that could serve it, it is asked first. */
const askingClient = id.optional();
/** Which instance of it, such as a tab: of several of the client it is asked first. */
const askingInstance = id.optional();

/** Longer waits are cut to the limit: the caller gets a 202 and asks again. */
const toWaitMs = (ms: number): number => Math.min(ms, LIMITS.waitMs);
/** Names in the list of a run that may use these alone. */
export const TOOLS_PER_RUN = 512;
/** An invoke may be of a slow tool, and is asked once. */
const INVOKE_WAIT_MS = 120_000;
const invokeWaitMs = z
  .number()
  .nonnegative()
  .transform((ms) => Math.min(ms, INVOKE_WAIT_MS));
const waitMsText = z.coerce.number().nonnegative().transform(toWaitMs);
const limit = z.coerce.number().int().min(1).max(200).default(50);

/** Other systems call `args` so: passed over, it would make a call without its arguments. */
const OTHER_NAMES = ['arguments', 'params', 'input'];

/** Refuses those where `args` is not there. */
function refuseOtherNames(
  body: Readonly<Record<string, unknown>>,
  { addIssue }: z.RefinementCtx,
): void {
  const name = OTHER_NAMES.find((one) => Object.hasOwn(body, one));
  if (name === undefined || body.args !== undefined) return;
  const message = 'is no field of this body; what the tool is called with goes in "args"';
  addIssue({ code: 'custom', path: [name], message });
}

export const invokeBodySchema = z
  .looseObject({
    run_id: pathIdSchema,
    /** Any JSON, which the tool's own schema checks: null is no object. Left out, it is {}. */
    args: z.unknown().optional(),
    wait_ms: invokeWaitMs.optional(),
    /** The only client that may take it; `all` asks each that offers it. */
    client: id.optional(),
    client_id: askingClient,
    instance_id: askingInstance,
    timeout_ms: z.number().positive().optional(),
    /**
     * The one who decided is a program that uses a person's credential, such as the agent of their
     * browser: it is asked about as the calls of agents are.
     */
    by: z.literal('program').optional(),
  })
  .superRefine(refuseOtherNames);

export const invokeAcceptedSchema = z.object({
  tool_call_id: z.string(),
  status: z.literal('pending'),
  message: z.string(),
});
export type InvokeAccepted = z.infer<typeof invokeAcceptedSchema>;

export const waitQuerySchema = z.object({ wait_ms: waitMsText.optional() });

export const callsQuerySchema = closedObject({
  run_id: id.optional(),
  status: callStatusSchema.optional(),
  tool: z.string().max(128).optional(),
  client: id.optional(),
  q: z.string().max(1_000).optional(),
  cursor: z.string().max(1_000).optional(),
  limit,
  /** `args`, `result` or both with a comma: whole, where the list has previews. */
  include: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(['args', 'result'])))
    .optional(),
});

export const callsPageSchema = z.object({
  tool_calls: z.array(listedCallSchema),
  next_cursor: z.string().nullable(),
});

export const callEventsQuerySchema = closedObject({
  /** The version after which to go on; 0 is the beginning. */
  after: z.coerce.number().int().nonnegative().optional(),
  limit,
});

export const callEventsPageSchema = z.object({
  events: z.array(callEventSchema),
  /** For the next page; null on the last one. */
  next_after: z.number().int().nullable(),
});

export const retryBodySchema = z
  .looseObject({
    args: z.unknown().optional(),
    /** The only client that may take it, or `all`; without it as before. */
    client: id.optional(),
    client_id: askingClient,
    instance_id: askingInstance,
  })
  .superRefine(refuseOtherNames);

export const approvalsQuerySchema = closedObject({
  cursor: z
    .string()
    .regex(/^\d{1,16}:.{1,128}$/)
    .optional(),
  limit,
});

/** A question that waits for a person. */
const waitingApprovalSchema = approvalListingSchema.extend({
  /** The first of the calls that the decision is about, which the other fields describe. */
  tool_call_id: z.string(),
  display_name: z.string().nullable(),
  /** Null: the server's own tool, or any client. */
  client_id: z.string().nullable(),
  client_name: z.string().nullable(),
  /** Over 1 kB the beginning, with the bytes of the whole beside it. */
  args: z.record(z.string(), z.unknown()),
  args_bytes: z.number().int().nonnegative().optional(),
  /** Unix seconds. */
  created_at: z.number(),
  /** How many calls the decision is about, this one included. */
  equal_calls: z.number().int().positive(),
});

export const approvalsPageSchema = z.object({
  approvals: z.array(waitingApprovalSchema),
  next_cursor: z.string().nullable(),
});

/** No key of a decision is passed over: a mistaken `args` would allow other arguments. */
export const approvalBodySchema = closedObject({
  decision: z.enum(['yes', 'no', 'always']),
  note: z.string().max(2_000).optional(),
  args: z.unknown().optional(),
  /** `expires_at` of the approval that was decided: a yes to an older question is refused. */
  expires_at: z.number().optional(),
  /** The person was shown that so many equal calls wait: a yes to more is refused. */
  calls: z.number().int().min(1).optional(),
  /** The rule of an `always` is for this run, or for each run of the same owner. */
  scope: z.enum(ALWAYS_SCOPES).optional(),
  /** The rule ends after so many seconds: a minute to a year. Left out: no end for a run, 30 days when saved. */
  expires_in: z.number().min(60).max(31_536_000).optional(),
  /** The rule is for calls with such arguments alone. Left out: with any. */
  bound: boundArgumentsSchema.optional(),
  other_arguments: otherArgumentsSchema.optional(),
  /** The rule is for so many calls. Left out: for any number. */
  uses: alwaysUsesSchema.optional(),
});

/** `null` is an answer; a missing `output` is not. */
export const answerBodySchema = z.object({
  output: z.custom<unknown>((value) => value !== undefined, 'must be given; any JSON will do'),
});
export const extendBodySchema = closedObject({
  by_ms: z.number().int().positive().max(LIMITS.maxTimeoutMs),
});

export const toolsAnswerSchema = z.object({ tools: z.array(toolListingSchema) });
export const modelsAnswerSchema = z.object({
  models: z.array(modelListingSchema),
  /** The same as the API of OpenAI has it, where the configuration has that turned on. */
  object: z.literal('list').optional(),
  data: z
    .array(
      z.object({
        id: z.string(),
        object: z.literal('model'),
        created: z.number(),
        owned_by: z.string(),
      }),
    )
    .optional(),
});

const input = z.string().trim().min(1).max(100_000);
/** They hold for the run from then on; null: as the configuration says. */
const settings = {
  instructions: runSettingsSchema.shape.instructions.nullable(),
  temperature: runSettingsSchema.shape.temperature.nullable(),
  reasoning_effort: runSettingsSchema.shape.reasoning_effort.nullable(),
};

export const startRunBodySchema = z.object({
  input,
  model: z.string().min(1).max(256).optional(),
  /** These alone; without it all. */
  tools: z
    .array(
      z.string().refine(isToolName, {
        error: `must be the name of a tool: at most ${LONGEST_TOOL_NAME} of A-Z, a-z, 0-9, "_", "." and "-", a letter first`,
      }),
    )
    .max(TOOLS_PER_RUN, {
      error: `at most ${TOOLS_PER_RUN} names; left out, the run may use all tools`,
    })
    .refine((names) => new Set(names).size === names.length, {
      error: 'each name once',
    })
    .optional(),
  /** Offered before others, where the model takes fewer than there are. */
  pinned_tools: z.array(z.string().max(256)).max(128).optional(),
  ...settings,
  client_id: askingClient,
  instance_id: askingInstance,
});
export const sendMessageBodySchema = z
  .object({
    /** May be left out where `replaces` is there: the same words again. */
    input: input.optional(),
    model: z.string().min(1).max(256).optional(),
    ...settings,
    client_id: askingClient,
    instance_id: askingInstance,
    /** The id of a person's message of this run, in whose place this one is sent. */
    replaces: z.string().min(1).max(128).optional(),
  })
  .refine(
    (body) => body.input !== undefined || body.replaces !== undefined,
    'input is required unless replaces names a message to be sent again',
  );
export const runsQuerySchema = closedObject({ cursor: z.string().max(1_000).optional(), limit });
export const runsPageSchema = z.object({
  runs: z.array(runSummarySchema),
  next_cursor: z.string().nullable(),
});
export const messagesQuerySchema = closedObject({
  /** `messages_left_out` of the page before; without it the newest page. */
  before: z.coerce.number().int().nonnegative().optional(),
});
export const messagesPageSchema = runRecordSchema.pick({
  run_id: true,
  messages: true,
  messages_left_out: true,
});
export type MessagesPage = z.infer<typeof messagesPageSchema>;
export const modelTurnsQuerySchema = closedObject({
  /** The number after which to go on; 0 is the beginning. */
  after: z.coerce.number().int().nonnegative().optional(),
  limit,
  /** They are those alone whose answer this message is. */
  message_id: id.optional(),
});
export const modelTurnsPageSchema = z.object({
  model_turns: z.array(modelTurnSchema),
  /** For the next page; null on the last one. */
  next_after: z.number().int().nullable(),
});
export const runToolsQuerySchema = closedObject({
  /** The name after which to go on. */
  after: z.string().max(128).optional(),
  limit,
  offer: offerSchema.optional(),
});
export const runToolsPageSchema = z.object({
  run_id: z.string(),
  /** By name. */
  tools: z.array(runToolSchema),
  /** For the next page; null on the last one. */
  next_after: z.string().nullable(),
  /** They count all tools by what becomes of them; a number of none is not there. */
  counts: z.partialRecord(offerSchema, z.number().int()),
});
export type RunToolsPage = z.infer<typeof runToolsPageSchema>;
/** The lists of tools have those of one name alone. */
export const toolsQuerySchema = closedObject({ name: z.string().max(128).optional() });
export const eventsQuerySchema = z.object({
  since: z.coerce.number().int().nonnegative().optional(),
});

export const blobBodySchema = z.object({
  media_type: z.string().min(1).max(128),
  data: z.base64(),
  name: z.string().max(256).optional(),
  alt: z.string().max(2_000).optional(),
});

export const registerBodySchema = z.object({
  client_id: pathIdSchema,
  /** Checked one by one: a bad one does not take the good ones with it. */
  tools: z.array(z.unknown()).max(LIMITS.toolsPerMessage),
});
/** For the reference: each message is checked by itself, as a frame of a socket is. */
export const streamBodySchema = z.object({
  seq: z.number().int().positive(),
  messages: z.array(z.unknown()).max(STREAM_LIMITS.messages),
});
export const streamAnswerSchema = z.object({ ok: z.literal(true), seq: z.number().int() });
/** It is in the path of a client's requests. */
export const clientPathSchema = z.object({ client_id: pathIdSchema });
export const registerAnswerSchema = z.object({
  ok: z.literal(true),
  registered_count: z.number().int(),
  ...rejectionsShape,
});

export const requestsAnswerSchema = z.object({ requests: z.array(toolCallRequestSchema) });

export const submitBodySchema = z.object({
  status: z.enum(['SUCCEEDED', 'FAILED']),
  result: z.unknown().optional(),
  error: z
    .union([
      z.object({ message: z.string(), code: z.string().max(64) }),
      z.object({ message: z.string() }),
      // A failure whose words make no sense is a failure all the same.
      z.unknown().transform((error) => ({ message: failureText(error) })),
    ])
    .nullish()
    .transform((error) => (error ? { code: undefined, ...error } : null)),
});
/** `error` is null or has a message, which may be empty, whichever way the client spelt it. */
export type SubmitBody = z.infer<typeof submitBodySchema>;
export const submitAnswerSchema = z.object({
  ok: z.literal(true),
  tool_call_id: z.string(),
  status: callStatusSchema,
});

const secret = z.string().min(1).max(1_024);
/** The operator's token, or the code of a one-time link. */
export const signInBodySchema = z.union([z.object({ token: secret }), z.object({ code: secret })]);
export type SignInCredential = z.infer<typeof signInBodySchema>;
/** The key has to come with the cookie. */
export const signedInSchema = z.object({ ok: z.literal(true), session_key: z.string() });
export type SignedIn = z.infer<typeof signedInSchema>;
export const okSchema = z.object({ ok: z.literal(true) });
export const healthSchema = z.object({ status: z.string() });

/** `POST /v1/clients/:id/disconnect`. */
export const disconnectedSchema = z.object({
  ok: z.literal(true),
  connections: z.number().int().positive(),
});
