/** The report on one agent. */
export interface AgentRow {
  readonly title: string;
  /** The agent's name with its version. */
  readonly package: string;
  /** The versions of MCP, as the headers of its requests had them. */
  readonly revisions: readonly string[];
  /** The API of its model, to which it sent the results; null: it asked none. */
  readonly api: string | null;
  /** These are true when the text, and the picture, were in a request to its model, unchanged. */
  readonly text: boolean;
  readonly picture: boolean;
  /** Null: all is as it should be. */
  readonly problem: string | null;
}

/** The report on one run of the Inspector. */
export interface InspectorRow {
  readonly era: string;
  /** The problems of the schemas of all tools that `--strict` names. */
  readonly strict: { readonly tools: number; readonly problem: string | null };
  readonly load: { readonly requests: number; readonly problem: string | null };
}

export interface AgentsReport {
  readonly date: string;
  readonly callboard: string;
  readonly node: string;
  readonly platform: string;
  readonly agents: readonly AgentRow[];
  readonly inspector: { readonly package: string; readonly rows: readonly InspectorRow[] };
}

const yesNo = (value: boolean): string => (value ? 'yes' : '**no**');

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  row(head),
  row(head.map(() => '---')),
  ...rows.map(row),
];

export const problemsOf = ({ agents, inspector }: AgentsReport): string[] => [
  ...agents.flatMap(({ title, problem }) => (problem === null ? [] : [`${title}: ${problem}`])),
  ...inspector.rows.flatMap(({ era, strict, load }) =>
    [strict.problem, load.problem].flatMap((problem) =>
      problem === null ? [] : [`Inspector (${era}): ${problem}`],
    ),
  ),
];

/** `docs/interop.md`. */
export function toMarkdown(report: AgentsReport): string {
  const { date, callboard, node, platform, agents, inspector } = report;
  const problems = problemsOf(report);
  return [
    '# Agents that were tried',
    '',
    `Written by \`npm run agents\`; do not edit. Callboard ${callboard}, Node ${node}, ${platform}, ${date}.`,
    '',
    'Each agent is installed from npm and runs once, with an empty home, the settings of _Settings → Connect an agent_, and a proxy that does not answer for all that is not on this machine. Its model is a script that calls two tools of a client by WebSocket: one that gives a text and one that gives a picture. What the tools give is made anew in each run, and must be in a request to the model, the picture byte for byte.',
    '',
    ...table(
      ['agent', 'package', 'MCP', 'model by', 'text', 'picture'],
      agents.map((one) => [
        ...[one.title, `\`${one.package}\``, one.revisions.join(', ') || '–'],
        ...[one.api === null ? '–' : `\`${one.api}\``, yesNo(one.text), yesNo(one.picture)],
      ]),
    ),
    '',
    'An agent that runs without a person needs its own yes to the tools beside these settings: Claude Code `--allowedTools mcp__callboard`, Codex `mcp_servers.callboard.default_tools_approval_mode = "approve"`; opencode needs none. Whether the board asks is up to [its policy](policy.md).',
    '',
    '## The Inspector',
    '',
    `\`${inspector.package}\`, as a command: \`--strict\` reads the schemas of all tools, of the server and of the client, and fails on one that clients refuse; \`--load\` calls a tool of the client, ten at a time.`,
    '',
    ...table(
      ['`--protocol-era`', '`tools/list --strict`', '`tools/call --load`'],
      inspector.rows.map(({ era, strict, load }) => [
        era,
        strict.problem === null ? `${strict.tools} tools, no error` : '**failed**',
        load.problem === null ? `${load.requests} requests, no error` : '**failed**',
      ]),
    ),
    '',
    ...(problems.length === 0
      ? []
      : ['## What failed', '', ...problems.flatMap((one) => ['```', one, '```', ''])]),
  ].join('\n');
}
