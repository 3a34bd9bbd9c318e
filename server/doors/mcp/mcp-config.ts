import { z } from 'zod';
import { closedObject } from '#lib/protocol/closed-object';

/** Below the minute, and the five minutes, after which hosts give up. */
const HOLD_MS = { plain: 50_000, progress: 280_000 } as const;

const LONGEST_MS = 3_600_000;
const milliseconds = (fallback: number) =>
  z.number().int().min(1_000).max(LONGEST_MS).default(fallback);

/** `mcp` in the configuration file. */
export const mcpConfigSchema = closedObject({
  /** How long the answer to a call is held (rule MP21). */
  hold_ms: closedObject({
    /** For a client that does not ask for progress. */
    plain: milliseconds(HOLD_MS.plain),
    /** For one that does. */
    progress: milliseconds(HOLD_MS.progress),
  }).prefault({}),
  /** Clients that open addresses are shown where an approval is decided (rule MP50). */
  approval_url: z.boolean().default(false),
}).prefault({});
export type McpConfig = z.infer<typeof mcpConfigSchema>;
