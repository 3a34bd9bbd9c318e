/** Programs that call tools by MCP, and curl, by which a person tries a token. */
export const AGENT_PROGRAMS = [
  'claude-code',
  'codex',
  'opencode',
  'cursor',
  'vscode',
  'claude-desktop',
  'curl',
] as const;
export type AgentProgram = (typeof AGENT_PROGRAMS)[number];

/** Text that goes into a shell (`place` null), or into a file. */
export interface Snippet {
  readonly place: string | null;
  readonly text: string;
}

/** `address`: of the workbench, such as `https://board.example`. Neither has a quote in it. */
interface Connection {
  readonly address: string;
  readonly token: string;
}

const json = (value: object): string => JSON.stringify(value, null, 2);

const VARIABLE = 'CALLBOARD_AGENT_TOKEN';

/** Entering these in that order gives the program the tools of the token (docs/mcp.md). */
export const agentSnippets = (program: AgentProgram, connection: Connection): Snippet[] =>
  SNIPPETS[program]({ ...connection, url: `${connection.address}/mcp` });

const shell = (text: string): Snippet => ({ place: null, text });

const SNIPPETS: Readonly<
  Record<AgentProgram, (connection: Connection & { readonly url: string }) => Snippet[]>
> = {
  'claude-code': ({ url, token }) => [
    shell(
      `claude mcp add --transport http callboard '${url}' --header 'Authorization: Bearer ${token}'`,
    ),
  ],
  codex: ({ url, token }) => [
    {
      place: '~/.codex/config.toml',
      text: `[mcp_servers.callboard]\nurl = "${url}"\nbearer_token_env_var = "${VARIABLE}"`,
    },
    shell(`export ${VARIABLE}='${token}'`),
  ],
  opencode: ({ url, token }) => [
    {
      place: 'opencode.json',
      text: json({
        mcp: {
          callboard: { type: 'remote', url, headers: { Authorization: `Bearer ${token}` } },
        },
      }),
    },
  ],
  cursor: ({ url, token }) => [
    {
      place: '.cursor/mcp.json',
      text: json({
        mcpServers: {
          callboard: { url, headers: { Authorization: `Bearer \${env:${VARIABLE}}` } },
        },
      }),
    },
    shell(`export ${VARIABLE}='${token}'`),
  ],
  vscode: ({ url }) => [
    {
      place: '.vscode/mcp.json',
      text: json({
        inputs: [{ type: 'promptString', id: 'callboard', description: 'Token', password: true }],
        servers: {
          callboard: {
            type: 'http',
            url,
            headers: { Authorization: `Bearer \${input:callboard}` },
          },
        },
      }),
    },
  ],
  'claude-desktop': ({ address, token }) => [
    {
      place: 'claude_desktop_config.json',
      text: json({
        mcpServers: {
          callboard: {
            command: 'node',
            args: ['/path/to/callboard/examples/mcp-stdio.mjs'],
            env: { CALLBOARD_URL: address, CALLBOARD_TOKEN: token },
          },
        },
      }),
    },
  ],
  curl: ({ url, token }) => [
    shell(
      [
        `curl -s '${url}' -H 'Authorization: Bearer ${token}'`,
        `-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'`,
        `-d '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'`,
      ].join(' \\\n  '),
    ),
  ],
};

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
