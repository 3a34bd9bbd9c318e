import { z } from 'zod';

/** What goes to the database process, once, on its standard input. */
export const queryRequestSchema = z.object({
  databasePath: z.string(),
  sql: z.string(),
  params: z.array(z.union([z.string(), z.number(), z.null()])),
  secretTables: z.array(z.string()),
  /** Where given, nothing else is read: see own-rows.ts. */
  ownRows: z.array(z.object({ table: z.string(), where: z.string() })).optional(),
  maxRows: z.number(),
  maxBytes: z.number(),
});
export type QueryRequest = z.infer<typeof queryRequestSchema>;

const cellSchema = z.union([z.string(), z.number(), z.null()]);
export type Cell = z.infer<typeof cellSchema>;

/** What comes back on its standard output. */
export const queryReplySchema = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    columns: z.array(z.string()),
    rows: z.array(z.array(cellSchema)),
    row_count: z.number(),
    truncated: z.boolean(),
  }),
  z.object({ ok: z.literal(false), message: z.string() }),
]);
export type QueryReply = z.infer<typeof queryReplySchema>;
