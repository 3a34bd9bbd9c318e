import { z } from 'zod';

/** The channel between the server and what starts a program in its namespace: a socket on both sides. */
export const CHANNEL_FD = 3;

/** It reads this, once, as a line. */
export const orderSchema = z.object({
  program: z.string(),
  args: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
});
export type ProgramOrder = z.infer<typeof orderSchema>;

/** It answers with one line each: `started`, then `ended`; or `not_started` alone. */
export const reportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started') }),
  z.object({ kind: z.literal('not_started'), reason: z.string() }),
  z.object({
    kind: z.literal('ended'),
    exitCode: z.number().nullable(),
    endedBy: z.string().nullable(),
  }),
]);
export type ProgramReport = z.infer<typeof reportSchema>;
