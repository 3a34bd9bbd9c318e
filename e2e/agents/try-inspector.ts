import { resolve } from 'node:path';
import { z } from 'zod';
import { makeToken } from '../contract/kit/tokens.ts';
import type { Callboard } from '../start-callboard.ts';
import { NOTE } from './desk.ts';
import type { InspectorRow } from './report.ts';
import { runProgram, withHome } from './run-program.ts';

/** The programs of this project's packages: the official tool for looking at servers is one. */
const PROGRAMS = resolve(import.meta.dirname, '../../node_modules/.bin');

const REQUESTS = 300;

const listSchema = z.object({ result: z.object({ tools: z.array(z.unknown()) }) });
const loadSchema = z.object({
  result: z.object({ ok: z.number(), toolErrors: z.number(), errors: z.number() }),
});

/** `--strict` over all tools, and `--load`, in both generations of the protocol. */
export async function tryInspector(board: Callboard): Promise<InspectorRow[]> {
  const { secret } = await makeToken(board, {
    ...{ kind: 'agent', name: 'inspector', tools: await toolNames(board) },
  });
  const run = (era: string, what: string) =>
    withHome((place) =>
      runProgram(place, {
        script: `exec inspector --cli '${board.url}/mcp' --transport http --header "Authorization: Bearer $TOKEN" --protocol-era ${era} --quiet --format json ${what}`,
        ...{ programs: PROGRAMS, env: { TOKEN: secret } },
      }),
    );
  const rows: InspectorRow[] = [];
  for (const era of ['modern', 'legacy']) {
    const strict = await run(era, '--method tools/list --strict');
    const call = `--method tools/call --tool-name ${NOTE}`;
    const load = await run(era, `${call} --load --load-requests ${REQUESTS}`);
    rows.push({ era, strict: strictOf(strict), load: loadOf(load) });
  }
  return rows;
}

const toolsSchema = z.object({ tools: z.array(z.object({ name: z.string() })) });

async function toolNames(board: Callboard): Promise<string[]> {
  const { body } = await board.http('GET', '/api/tools');
  return toolsSchema.parse(body).tools.map(({ name }) => name);
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function strictOf({ code, output }: Ended): InspectorRow['strict'] {
  const list = listSchema.safeParse(firstJson(output));
  if (code === 0 && list.success) return { tools: list.data.result.tools.length, problem: null };
  return { tools: 0, problem: `--strict ended with ${code}: ${output.slice(-1_500)}` };
}

function loadOf({ code, output }: Ended): InspectorRow['load'] {
  const load = loadSchema.safeParse(firstJson(output));
  if (code === 0 && load.success) {
    const { ok, toolErrors, errors } = load.data.result;
    if (ok === REQUESTS && toolErrors + errors === 0) return { requests: ok, problem: null };
  }
  return { requests: 0, problem: `--load ended with ${code}: ${output.slice(-1_500)}` };
}

/** Its answer is one line of JSON; warnings are around it. */
function firstJson(output: string): unknown {
  const line = output.split('\n').find((one) => one.startsWith('{'));
  try {
    return line === undefined ? undefined : JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
