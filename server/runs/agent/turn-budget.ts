/** The most that one turn may take; null for no limit. */
export interface TurnBudget {
  /** Since the person's message. */
  readonly seconds: number | null;
  readonly calls: number | null;
  /** Input and output as the provider counts them; since the start of the server. */
  readonly tokens: number | null;
}

export const NO_BUDGET: TurnBudget = { seconds: null, calls: null, tokens: null };
