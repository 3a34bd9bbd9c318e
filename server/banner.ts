export interface BannerFacts {
  readonly url: string;
  readonly signInUrl: string;
  readonly dataDir: string;
  /** Where the operator's token is to be found. */
  readonly token: string;
  /** How large the history is, and how long it is kept. */
  readonly history: string;
  /** `CALLBOARD_MODEL` is set. */
  readonly isModelSet: boolean;
  readonly models: {
    readonly defaultModel: string;
    /** Why the server behind `OPENAI_BASE_URL` has no models, or what the default lacks. */
    readonly trouble: { readonly message: string } | undefined;
  };
}

/** What a start prints: where to go, what is used, how to stop. */
export function formatBanner(facts: BannerFacts): string {
  const { url, signInUrl, dataDir, token, history } = facts;
  return [
    `Callboard is ready: ${url}`,
    `  Sign in (once):  ${signInUrl}`,
    `  Data directory:  ${dataDir}`,
    `  Operator token:  ${token}`,
    `  History:         ${history}`,
    `  Model:           ${modelLabel(facts)}`,
    '  Stop:            Ctrl+C',
    '',
  ].join('\n');
}

/** For what is set and does not work it names the fault; it never asks for what is set. */
function modelLabel({ isModelSet, models }: BannerFacts): string {
  const { defaultModel, trouble } = models;
  if (defaultModel === 'rehearsal') {
    return isModelSet
      ? 'rehearsal (not an LLM; CALLBOARD_MODEL names it)'
      : 'rehearsal (not an LLM; set OPENAI_API_KEY or OPENAI_BASE_URL for one)';
  }
  const name = defaultModel === 'compatible' ? 'none yet' : defaultModel;
  return trouble === undefined ? name : `${name}. ${trouble.message}`;
}

/** The address as a browser takes it; "any address" cannot be opened. */
export function reachableUrl(host: string, port: number): string {
  const shown = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
