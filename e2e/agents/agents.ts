import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type AgentProgram, agentSnippets } from '#lib/format/snippets';
import { MODEL } from './dialects/dialect.ts';
/** An agent of another maker, as its users install it. */
export interface Agent {
  readonly title: string;
  readonly program: AgentProgram;
  readonly package: string;
  readonly version: string;
  /** A shell runs it once by this: with the model at `url`, and no question to a person. */
  command(model: { readonly url: string }): string;
  readonly env?: (model: { readonly url: string }) => Readonly<Record<string, string>>;
  /** Files under its home that its snippets do not make. */
  readonly files?: (model: { readonly url: string }) => Readonly<Record<string, string>>;
}

const PROMPT = 'Read the note on the desk, then look at the picture on the desk.';

const json = (value: object): string => JSON.stringify(value, null, 2);

export const AGENTS: readonly Agent[] = [
  {
    ...{ title: 'Claude Code', program: 'claude-code' },
    ...{ package: '@anthropic-ai/claude-code', version: '2.1.330' },
    command: () => `claude --print '${PROMPT}' --model ${MODEL} --allowedTools mcp__callboard`,
    env: ({ url }) => ({
      ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none' },
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Else the model has to search for the tools of MCP servers before it may call them.
      ENABLE_TOOL_SEARCH: 'false',
    }),
  },
  {
    ...{ title: 'Codex', program: 'codex', package: '@openai/codex', version: '0.169.0' },
    command: ({ url }) =>
      [
        `codex exec --skip-git-repo-check --sandbox read-only --model ${MODEL}`,
        `-c 'model_provider="scripted"'`,
        `-c 'model_providers.scripted={name="Scripted", base_url="${url}/v1", wire_api="responses"}'`,
        // An agent that runs alone has no person to ask for its own yes; the board's policy asks as ever.
        `-c 'mcp_servers.callboard.default_tools_approval_mode="approve"'`,
        `'${PROMPT}'`,
      ].join(' '),
  },
  {
    ...{ title: 'opencode', program: 'opencode', package: 'opencode-ai', version: '1.18.33' },
    command: () => `opencode run --model scripted/${MODEL} '${PROMPT}'`,
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }),
    files: ({ url }) => ({
      '.config/opencode/opencode.json': json({
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'none' },
            models: {
              [MODEL]: {
                attachment: true,
                modalities: { input: ['text', 'image'], output: ['text'] },
              },
            },
          },
        },
      }),
    }),
  },
];

/** Makes the files of `agent` and gives the script and the environment that run it in `work`. */
export async function prepareAgent(
  agent: Agent,
  at: {
    readonly home: string;
    readonly work: string;
    readonly model: { readonly url: string };
    readonly address: string;
    readonly token: string;
  },
): Promise<{ readonly script: string; readonly env: Readonly<Record<string, string>> }> {
  const snippets = agentSnippets(agent.program, at);
  const files = Object.entries(agent.files?.(at.model) ?? {}).map(
    ([path, text]) => [join(at.home, path), text] as const,
  );
  for (const { place, text } of snippets) {
    if (place !== null) files.push([placeOf(place, at), text]);
  }
  for (const [path, text] of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const typed = snippets.filter(({ place }) => place === null).map(({ text }) => text);
  return {
    script: [...typed, `exec ${agent.command(at.model)}`].join('\n'),
    env: agent.env?.(at.model) ?? {},
  };
}

const placeOf = (place: string, { home, work }: { home: string; work: string }): string =>
  place.startsWith('~/') ? join(home, place.slice(2)) : join(work, place);
