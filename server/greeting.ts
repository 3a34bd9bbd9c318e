export interface GreetingFacts {
  readonly url: string;
  readonly signInUrl: string;
  readonly dataDir: string;
  /** Where the operator's token is to be found. */
  readonly token: string;
  readonly model: string;
}

/** What a start prints: where to go, what is used, how to stop. */
export function greeting({ url, signInUrl, dataDir, token, model }: GreetingFacts): string {
  const note =
    model === 'rehearsal' ? ' (not an LLM; set OPENAI_API_KEY or OPENAI_BASE_URL for one)' : '';
  return [
    `Callboard is ready: ${url}`,
    `  Sign in (once):  ${signInUrl}`,
    `  Data directory:  ${dataDir}`,
    `  Operator token:  ${token}`,
    `  Model:           ${model}${note}`,
    '  Stop:            Ctrl+C',
    '',
  ].join('\n');
}

/** The address as a browser takes it; nobody can open "any address". */
export function reachableUrl(host: string, port: number): string {
  const shown = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
