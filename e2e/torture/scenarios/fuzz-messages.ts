import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { serverMessageSchema } from '#lib/protocol/server-messages';
import { watchServerMessageSchema } from '#lib/protocol/watch-messages';
import { mutated } from '../net/mutate.ts';
import { inRig, mustSucceed, type Rig, until } from '../net/rig.ts';
import { measureStalls } from '../net/stall-meter.ts';
import type { Random } from '../random.ts';
import type { Scenario, Violation } from '../scenario.ts';

const SESSIONS = 20;
/** Below what the server takes for a flood. */
const BATCH = 15;
const BATCH_MS = 50;

/** Messages of this protocol with something wrong in them, in every state; and real calls beside them. */
export const fuzzMessages: Scenario = {
  id: 'F28',
  name: 'mutated messages on both sockets',
  run: (context) =>
    inRig(context, async (rig) => {
      const count = context.rounds({ full: 200_000, short: 5_000 });
      const violations: Violation[] = [];
      const seen = { sent: 0, replies: 0, bad: 0, sockets: 0, requests: 0 };
      const bad = (detail: string) => violations.push({ invariant: 'HEALTH', detail });
      const honest = rig.client({ name: 'honest' });
      await honest.start();
      await until(() => honest.welcomes.length > 0, 10_000);
      const meter = await measureStalls(rig.board);
      let isOver = false;
      const real: string[] = [];
      const realCalls = (async () => {
        while (!isOver) {
          real.push(await rig.invoke('effect_honest', {}, { wait_ms: 10_000, timeout_ms: 10_000 }));
          await sleep(20);
        }
      })().catch((error: unknown) => bad(`a real call beside the fuzzing was refused: ${error}`));
      const baits: string[] = [];
      const baiter = async (first: number) => {
        for (let n = first; !isOver; n += 3) {
          const body = { run_id: 'run_bait', args: {}, timeout_ms: 1_000 };
          const path = `/v1/tools/fuzzed_${n % SESSIONS}/invoke`;
          const asked = await rig.api.ask('POST', path, { body });
          if (asked?.status === 202)
            baits.push((asked.body as { tool_call_id: string }).tool_call_id);
          await sleep(5);
        }
      };
      const bait = Promise.all([0, 1, 2].map(baiter));
      await Promise.all(
        Array.from({ length: SESSIONS }, (_, index) =>
          fuzzSession(rig, {
            index,
            count: count / SESSIONS,
            random: context.random.fork(`${index}`),
            seen,
            bad,
          }),
        ),
      );
      isOver = true;
      await Promise.all([realCalls, bait]);
      const stalls = await meter.stop();
      // What nobody is left to take would wait out its clock.
      for (const id of baits)
        await rig.api.ask('POST', `/v1/tool_calls/${id}/cancel`, { body: {} });
      const rest = await rig.rest();
      const others = rest.violations.filter(({ invariant }) => invariant !== 'I11');
      return {
        figures: {
          ...rest.figures,
          ...seen,
          bait_calls: baits.length,
          real_calls: real.length,
          ...stalls.figures,
        },
        violations: [
          ...violations,
          ...stalls.violations,
          ...others,
          ...mustSucceed(rest, real, 'a real call beside the fuzzing'),
        ],
        summary: `${seen.sent} mutated messages in ${SESSIONS} sessions over ${seen.sockets} sockets: ${violations.length} crashes or foreign replies among ${seen.replies} (${seen.bad} refusals), ${real.length} real calls beside them; worst stall ${stalls.figures.stall_ms_max} ms in ${stalls.figures.looks_nobody_starved} looks (${stalls.figures.latency_ms_max} ms with what the machine did not let run, in ${stalls.figures.looks})`,
      };
    }),
};

interface Session {
  readonly index: number;
  readonly count: number;
  readonly random: Random;
  readonly seen: { sent: number; replies: number; bad: number; sockets: number; requests: number };
  bad(detail: string): void;
}

async function fuzzSession({ board }: Rig, session: Session): Promise<void> {
  const { index, random, seen, bad } = session;
  const isWatcher = index % 5 === 4;
  const path = isWatcher ? '/ws/watch' : '/ws/client';
  const schema = isWatcher ? watchServerMessageSchema : serverMessageSchema;
  const asked: { id: string; attempt: number }[] = [];
  let sent = 0;
  while (sent < session.count) {
    const ws = new WebSocket(board.url.replace('http', 'ws') + path, {
      headers: { authorization: `Bearer ${board.token}` },
    });
    ws.on('error', () => {});
    let isOpen = true;
    const closed = new Promise<number>((resolve) => ws.on('close', resolve));
    void closed.then(() => {
      isOpen = false;
    });
    ws.on('message', (data) => {
      seen.replies += 1;
      const message = JSON.parse(String(data));
      const parsed = schema.safeParse(message);
      // The answer to a probe is the watch socket's own, and not among its events.
      if (!parsed.success && message.type !== 'probe_ack')
        bad(`${path} said what is not of the protocol: ${String(data).slice(0, 300)}`);
      if (message.type === 'error' || message.type === 'result_rejected') seen.bad += 1;
      if (message.type !== 'tool_call_request') return;
      seen.requests += 1;
      asked.push({ id: message.id, attempt: message.attempt });
      if (asked.length > 20) asked.shift();
    });
    await Promise.race([new Promise((resolve) => ws.once('open', resolve)), closed]);
    seen.sockets += 1;
    // Watchers have a smaller bucket, and are closed when it is empty, as is right.
    const life = Math.min(session.count - sent, isWatcher ? 45 : random.between(200, 1_500));
    for (let n = 0; n < life && isOpen; n += 1) {
      const message = isWatcher ? watchMessage(random) : clientMessage(random, index, asked, n);
      ws.send(
        n < 2 && !isWatcher && random.chance(0.8)
          ? JSON.stringify(message)
          : mutated(message, random),
      );
      sent += 1;
      seen.sent += 1;
      if (n % BATCH === BATCH - 1) await sleep(isWatcher ? 10 : BATCH_MS);
    }
    if (isOpen) ws.close();
    const code = await Promise.race([closed, sleep(8_000, undefined)]);
    if (code === undefined) bad(`a socket of ${path} hung when it was told to close`);
    else if (![1000, 1005, 1006, 1008, 1009, 4010, 4013].includes(code))
      bad(`${path} closed with ${code}`);
  }
}

const watchMessage = (random: Random): object =>
  random.chance(0.3)
    ? { type: 'probe', nonce: `n${random.between(0, 9)}` }
    : {
        type: 'watch',
        run_id: random.pick(['run_bait', 'run_torture', 'x']),
        since: random.between(0, 2_000),
      };

function clientMessage(
  random: Random,
  index: number,
  asked: readonly { id: string; attempt: number }[],
  n: number,
): object {
  const [name, known] = [`fuzzed_${index}`, { id: `tc_${random.between(0, 99)}`, attempt: 1 }];
  const call = asked.length > 0 && random.chance(0.8) ? random.pick(asked) : known;
  const tool = {
    name,
    description: 'fuzzed',
    parameters: { type: 'object', properties: { a: { type: 'string' } } },
  };
  if (n === 0)
    return {
      type: 'hello',
      client_id: `c${index}`,
      instance_id: `i${index}`,
      name,
      kind: 'tab',
      journal_epoch: 'e',
      known: [{ ...call, phase: 'done' }],
      caps: ['claim', 'cancel', 'probe'],
    };
  if (n === 1) return { type: 'register_tools', tools: [tool] };
  return random.pick<object>([
    { type: 'register_tools', tools: [tool, { ...tool, annotations: { readOnlyHint: true } }] },
    { type: 'unregister_tools', names: ['nothing'] },
    { type: 'tool_call_claim', ...call },
    { type: 'tool_call_claim', ...call },
    {
      type: 'tool_status',
      ...call,
      tip: 'tip',
      params: { a: 1 },
      progress: { done: 1, total: 2 },
      phase: 'device',
    },
    {
      type: 'tool_result',
      ...call,
      output: { a: [1, 2] },
      success: true,
      attachments: [{ media_type: 'image/png', data: 'iVBORw0KGgo=' }],
    },
    { type: 'tool_result', ...call, output: 'text', success: true },
    { type: 'tool_error', ...call, error: 'no', success: false, code: 'outcome_unknown' },
    {
      type: 'client_state',
      visibility: 'hidden',
      permissions: { [name]: 'prompt' },
      battery: { level: 1 },
      secure_context: true,
    },
    { type: 'probe', nonce: 'n' },
    { type: 'probe_ack', nonce: 'n' },
    { type: 'hello', client_id: 'c', resume_token: 't' },
  ]);
}
