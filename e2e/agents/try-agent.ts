import { makeToken } from '../contract/kit/tokens.ts';
import { passOn } from '../interop/pass-on.ts';
import type { Callboard } from '../start-callboard.ts';
import { type Agent, prepareAgent } from './agents.ts';
import { type Desk, NOTE, PICTURE } from './desk.ts';
import type { AgentRow } from './report.ts';
import { runProgram, withHome } from './run-program.ts';
import { type ModelRequest, startScriptedModel } from './scripted-model.ts';

/** Runs one agent from its configuration to its last words, and looks at what its model was sent. */
export async function tryAgent(
  agent: Agent,
  { board, desk, programs }: { board: Callboard; desk: Desk; programs: string },
): Promise<AgentRow> {
  const { secret: token } = await makeToken(board, {
    ...{ kind: 'agent', name: agent.program, tools: ['desk.*'] },
  });
  const revisions = new Set<string>();
  const proxy = await passOn(board, {
    onRequest(headers) {
      const revision = headers['mcp-protocol-version'];
      if (typeof revision === 'string') revisions.add(revision);
    },
  });
  const model = await startScriptedModel([NOTE, PICTURE]);
  desk.called.length = 0;
  try {
    const { code, output } = await withHome(async (place) => {
      const given = { ...place, model, address: proxy.address, token };
      return runProgram(place, { ...(await prepareAgent(agent, given)), programs });
    });
    const seen = look(desk, model.requests);
    const problem = problemOf({ code, called: desk.called, ...seen });
    return {
      ...{ title: agent.title, package: `${agent.package} ${agent.version}` },
      ...{ revisions: [...revisions].sort(), api: model.requests.at(-1)?.path ?? null },
      ...seen,
      problem: problem === null ? null : `${problem}. Its last lines: ${output.slice(-1_500)}`,
    };
  } finally {
    await model.close();
    await proxy.close();
  }
}

interface Seen {
  readonly text: boolean;
  readonly picture: boolean;
}

/** True when what a tool gave is in a request, the same as it was given. */
function look(desk: Desk, requests: readonly ModelRequest[]): Seen {
  const has = (part: string) => requests.some(({ body }) => body.includes(part));
  return { text: has(desk.note), picture: has(desk.picture) };
}

function problemOf({
  code,
  called,
  text,
  picture,
}: Seen & { code: number | null; called: readonly string[] }): string | null {
  if (code !== 0) return `It ended with ${code ?? 'a signal'}`;
  if (called.join(' ') !== 'desk.note desk.picture') return `It called: ${called.join(', ')}`;
  if (!text) return 'The text was in no request to the model';
  return picture ? null : 'The picture was in no request to the model';
}
