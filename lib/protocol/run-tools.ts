import { z } from 'zod';

/** Reads the rest of a result of which the model was sent beginning and end. */
export const READ_RESULT = 'result.read';
/** Finds tools that there was no room for in the request. */
export const SEARCH_TOOLS = 'tools.search';

/** Tools about a run itself: each run has them, whatever its list of tools and that of its owner. */
export const RUN_TOOLS: ReadonlySet<string> = new Set([READ_RESULT, SEARCH_TOOLS]);

/** It says whether the model of a run is offered a tool in the next step, or why not. */
export const offerSchema = z.enum([
  'offered',
  /** The model takes no more; `tools.search` finds it. */
  'over_limit',
  /** The model's API takes no form of its schema. */
  'schema_unfit',
  /** By the policy, whatever the arguments. */
  'denied',
  /** Not in the run's own list of tools. */
  'not_in_run',
  /** Not in the list of the token of the run's owner. */
  'not_permitted',
  /** It cannot be called now, e.g. no sub-agent can be had; `reason` has why. */
  'unavailable',
  /** It failed to be delivered so often in a row that it is not asked for a while. */
  'failing',
  /** Called in this run before, and no client offers it now. */
  'client_away',
  /** A tool about the run that has nothing to do yet. */
  'not_needed',
]);
export type Offer = z.infer<typeof offerSchema>;

export const runToolSchema = z.object({
  name: z.string(),
  source: z.string(),
  offer: offerSchema,
  /** The configuration or the run names it: it is offered before others. */
  pinned: z.boolean(),
  /** `tools.search` gave it to the model. */
  found: z.boolean(),
  /** The rule of the policy, where that denies it. */
  rule: z.string().optional(),
  reason: z.string().optional(),
  /** The form of its schema that the model is sent does not hold these, in sentences; at most 20. */
  schema_warnings: z.array(z.string()).optional(),
});
export type RunTool = z.infer<typeof runToolSchema>;
