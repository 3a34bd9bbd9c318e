import { z } from 'zod';

/** This much is read of the `RunAgentInput` of AG-UI 1.0 (docs/ag-ui.md); all else of it is ignored. */

/** Ids are the front end's own, of any form. */
const idSchema = z.string().min(1).max(256);

const messageSchema = z.object({
  id: idSchema,
  role: z.string().max(32),
  /** The newest message of a person is read: a text, or parts of texts and files. */
  content: z.unknown().optional(),
});
export type AgUiInputMessage = z.infer<typeof messageSchema>;

export const runAgentInputSchema = z.object({
  /** The id of a run, or the front end's own name for the conversation. */
  threadId: idSchema,
  runId: idSchema.nullish(),
  messages: z.array(messageSchema).max(10_000),
  /** Tools of the front end: they are not called. */
  tools: z
    .array(z.object({ name: z.string().max(256) }))
    .max(1_000)
    .nullish()
    .transform((tools) => tools ?? []),
  /** Answers to interrupts: there are none. */
  resume: z.array(z.unknown()).max(1_000).nullish(),
});
export type RunAgentInput = z.infer<typeof runAgentInputSchema>;
