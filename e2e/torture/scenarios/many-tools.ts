import { connectClient, spec, type ToolClient } from '../../contract/kit/tool-client.ts';
import { createMemoryMeter } from '../net/memory-meter.ts';
import { inRig, type Rig } from '../net/rig.ts';
import type { Played, Scenario } from '../scenario.ts';
import { until } from '../world/until.ts';

const TOOLS_EACH = 50;
/** The gate looks up at most 64 credentials of one address at once. */
const AT_ONCE = 40;
const REGISTER_MS = 60_000;
const GHOSTS_MS = 30_000;
const MEMORY_MIB = 100;

/** 10,000 tools of 200 sockets come, are listed, and go at once; the list is what is there. */
export const manyTools: Scenario = {
  id: 'F25',
  name: '10,000 tools of 200 sockets, which then drop at once',
  async run(context) {
    const memory = createMemoryMeter(await context.tempDir());
    const play = async (rig: Rig): Promise<Played> => {
      const sockets = context.isShort ? 40 : 200;
      const rounds = context.rounds({ full: 5, short: 1 });
      const before = await memory.look(rig.board.pid);
      const base = await offered(rig);
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
          context.bad(
            'HEALTH',
            `${sockets * TOOLS_EACH} registrations took ${Math.round(registerMs)} ms`,
          );
        const listedAt = performance.now();
        const there = await offered(rig);
        figures.list_ms_max = Math.max(
          figures.list_ms_max,
          Math.round(performance.now() - listedAt),
        );
        figures.registered = there.size - base.size;
        const differs = difference(there, new Set([...base, ...namesOf(0, sockets)]));
        if (differs) context.bad('I14', `all are there: ${differs}`);
        // First half of them, so that a list that forgets too much is seen, too.
        const half = sockets / 2;
        const droppedAt = performance.now();
        await Promise.all(clients.slice(0, half).map((client) => client.vanish()));
        await comesTo(rig, [...base, ...namesOf(half, sockets)]);
        await Promise.all(clients.slice(half).map((client) => client.vanish()));
        await comesTo(rig, base);
        const goneMs = Math.round(performance.now() - droppedAt);
        figures.gone_ms_max = Math.max(figures.gone_ms_max, goneMs);
        figures.ghosts += [...(await offered(rig))].filter((name) => !base.has(name)).length;
      }
      const after = await memory.look(rig.board.pid);
      const [grown, held] = [after.live - before.live, after.held - before.held];
      if (grown > MEMORY_MIB)
        context.bad('I13', `memory in use grew by ${grown} MiB; at most ${MEMORY_MIB}`);
      const rest = await rig.rest();
      return {
        figures: { ...rest.figures, ...figures, rounds, grown_mib: grown, held_mib: held },
        summary: `${rounds} × ${figures.registered} tools of ${sockets} sockets: registered in at most ${figures.register_ms_max} ms, listed in ${figures.list_ms_max} ms, ${figures.ghosts} ghosts after all dropped (gone in ${figures.gone_ms_max} ms), memory +${grown} MiB (+${held} MiB held)`,
      };
    };
    return inRig(context, play, { env: memory.env });
  },
};

const offered = async ({ api }: Rig) => new Set(await api.tools('/api/tools'));

const toolName = (socket: number, tool: number): string => `t${socket}.n${tool}`;

/** The tools of the sockets from `first` on, before `end`. */
const namesOf = (first: number, end: number): string[] =>
  Array.from({ length: (end - first) * TOOLS_EACH }, (_, n) =>
    toolName(first + Math.floor(n / TOOLS_EACH), n % TOOLS_EACH),
  );

function difference(there: ReadonlySet<string>, right: ReadonlySet<string>): string | undefined {
  const ghosts = [...there].filter((name) => !right.has(name));
  const missing = [...right].filter((name) => !there.has(name));
  if (ghosts.length + missing.length === 0) return undefined;
  return `${ghosts.length} tools are listed whose clients are gone (${ghosts[0]}), ${missing.length} are missing (${missing[0]})`;
}

/** The list, soon after, names exactly these. */
async function comesTo(rig: Rig, names: Iterable<string>): Promise<void> {
  const right = new Set(names);
  const isRight = async () => difference(await offered(rig), right) === undefined;
  if (await until(isRight, GHOSTS_MS, 20)) return;
  const wrong = difference(await offered(rig), right);
  rig.bad('I14', `${GHOSTS_MS} ms after sockets dropped: ${wrong}`);
}

async function connectAll({ board }: Rig, count: number, round: number): Promise<ToolClient[]> {
  const clients: ToolClient[] = [];
  for (let at = 0; at < count; at += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, index) =>
      connectClient(board, {
        hello: { name: `many-${at + index}`, instance_id: `many-${round}-${at + index}` },
        tools: Array.from({ length: TOOLS_EACH }, (_, tool) => spec(toolName(at + index, tool))),
      }),
    );
    clients.push(...(await Promise.all(batch)));
  }
  return clients;
}
