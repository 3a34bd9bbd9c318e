export interface CurlInput {
  /** Scheme, host and port of the server. */
  readonly origin: string;
  readonly tool: string;
  readonly runId: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly client?: string;
}

/**
 * The call as a command for a POSIX shell (FM11). The token stays a variable:
 * what is pasted into a chat or a ticket must not carry a credential.
 */
export function curlCommand(input: CurlInput): string {
  const body = {
    run_id: input.runId,
    args: input.args,
    ...(input.client === undefined ? {} : { client: input.client }),
  };
  return [
    `curl -X POST ${quote(`${input.origin}/v1/tools/${encodeURIComponent(input.tool)}/invoke`)}`,
    '-H "Authorization: Bearer $CALLBOARD_TOKEN"',
    "-H 'Content-Type: application/json'",
    `-d ${quote(JSON.stringify(body))}`,
  ].join(' \\\n  ');
}

/** Inside single quotes a shell reads nothing but the closing quote. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
