import { connectClient, spec, type ToolClient } from '../../contract/kit/tool-client.ts';
import { memoryOf } from '../net/memory-of.ts';
import { inRig, type Rig, until } from '../net/rig.ts';
import type { Scenario, Violation } from '../scenario.ts';

const TOOLS_EACH = 50;
/** The gate looks up at most 64 credentials of one address at once. */
const AT_ONCE = 40;
const REGISTER_MS = 5_000;
const GHOSTS_MS = 3_000;
const MEMORY_MIB = 100;

/** 10,000 tools of 200 sockets come, are listed, and go at once; the list is what is there. */
export const manyTools: Scenario = {
  id: 'F25',
  name: '10,000 tools of 200 sockets, which then drop at once',
  run: (context) =>
    inRig(context, async (rig) => {
      const sockets = context.isShort ? 40 : 200;
      const rounds = context.rounds({ full: 5, short: 1 });
      const violations: Violation[] = [];
      const before = memoryOf(rig.board.pid);
      const base = (await offered(rig)).length;
      const figures = {
        registered: 0,
        register_ms_max: 0,
        list_ms_max: 0,
        ghosts: 0,
        gone_ms_max: 0,
      };
      for (let round = 0; round < rounds; round += 1) {
        const startedAt = performance.now();
        const clients = await connectAll(rig, sockets, round);
        const registerMs = performance.now() - startedAt;
        figures.register_ms_max = Math.max(figures.register_ms_max, Math.round(registerMs));
        if (registerMs > REGISTER_MS)
          violations.push({
            invariant: 'HEALTH',
            detail: `${sockets * TOOLS_EACH} registrations took ${Math.round(registerMs)} ms`,
          });
        const listedAt = performance.now();
        const there = await offered(rig);
        figures.list_ms_max = Math.max(
          figures.list_ms_max,
          Math.round(performance.now() - listedAt),
        );
        figures.registered = there.length - base;
        if (there.length - base !== sockets * TOOLS_EACH)
          violations.push({
            invariant: 'I14',
            detail: `${there.length - base} tools are listed of ${sockets * TOOLS_EACH}`,
          });
        const droppedAt = performance.now();
        await Promise.all(clients.map((client) => client.vanish()));
        const isGone = await until(async () => (await offered(rig)).length === base, GHOSTS_MS, 20);
        figures.gone_ms_max = Math.max(
          figures.gone_ms_max,
          Math.round(performance.now() - droppedAt),
        );
        const ghosts = (await offered(rig)).length - base;
        figures.ghosts += ghosts;
        if (!isGone)
          violations.push({
            invariant: 'I14',
            detail: `${ghosts} tools are listed whose clients are gone`,
          });
      }
      const grown = memoryOf(rig.board.pid) - before;
      if (grown > MEMORY_MIB)
        violations.push({
          invariant: 'I13',
          detail: `memory grew by ${grown} MiB; at most ${MEMORY_MIB}`,
        });
      const rest = await rig.rest();
      return {
        figures: { ...rest.figures, ...figures, rounds, grown_mib: grown },
        violations: [...violations, ...rest.violations],
        summary: `${rounds} × ${figures.registered} tools of ${sockets} sockets: registered in at most ${figures.register_ms_max} ms, listed in ${figures.list_ms_max} ms, ${figures.ghosts} ghosts after all dropped (gone in ${figures.gone_ms_max} ms), memory +${grown} MiB`,
      };
    }),
};

async function offered({ api }: Rig): Promise<string[]> {
  const answer = await api.ask('GET', '/api/tools');
  if (answer?.status !== 200) throw new Error(`the list of tools: ${JSON.stringify(answer)}`);
  const { tools } = answer.body as { tools: { name: string }[] };
  return tools.map(({ name }) => name);
}

async function connectAll({ board }: Rig, count: number, round: number): Promise<ToolClient[]> {
  const clients: ToolClient[] = [];
  for (let at = 0; at < count; at += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, index) =>
      connectClient(board, {
        hello: { name: `many-${at + index}`, instance_id: `many-${round}-${at + index}` },
        tools: Array.from({ length: TOOLS_EACH }, (_, tool) => spec(`t${at + index}.n${tool}`)),
      }),
    );
    clients.push(...(await Promise.all(batch)));
  }
  return clients;
}
