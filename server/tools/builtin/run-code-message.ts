import { z } from 'zod';

/** The thread of one `run_code` is started with this. */
export const codeRequestSchema = z.object({
  code: z.string(),
  /** JSON. */
  input: z.string(),
  memoryBytes: z.number(),
  runMs: z.number(),
  maxLogChars: z.number(),
  maxResultChars: z.number(),
});
export type CodeRequest = z.infer<typeof codeRequestSchema>;

/** It posts lines of `console`, and then how it ended. */
export const codeReplySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('log'), lines: z.array(z.string()) }),
  /** JSON. */
  z.object({ type: z.literal('result'), text: z.string() }),
  z.object({ type: z.literal('error'), text: z.string() }),
]);
export type CodeReply = z.infer<typeof codeReplySchema>;
