import { z } from 'zod';

/** A table of which only the rows that meet `where` are read. `where` is SQL of ours, with no words of others. */
const ownRowsSchema = z.object({ table: z.string(), where: z.string() });
export type OwnRows = z.infer<typeof ownRowsSchema>;

/** The database process reads this, once, on its standard input. */
export const queryRequestSchema = z.object({
  databasePath: z.string(),
  sql: z.string(),
  params: z.array(z.union([z.string(), z.number(), z.null()])),
  secretTables: z.array(z.string()),
  /** Where they are given, nothing else is read. */
  ownRows: z.array(ownRowsSchema).optional(),
  maxRows: z.number(),
  maxBytes: z.number(),
});
export type QueryRequest = z.infer<typeof queryRequestSchema>;

const cellSchema = z.union([z.string(), z.number(), z.null()]);
export type Cell = z.infer<typeof cellSchema>;

/** It answers so on its standard output. */
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
