import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { serverMessageSchema } from '#lib/protocol/server-messages';
import { watchServerMessageSchema } from '#lib/protocol/watch-messages';
import { flood } from '../net/flood.ts';
import { abyss, mutated } from '../net/mutate.ts';
import { inRig, mustSucceed, type Rig, untilListed } from '../net/rig.ts';
import { type Asked, clientMessage, watchMessage } from '../net/right-messages.ts';
import { createStallMeter } from '../net/stall-meter.ts';
import type { Random } from '../random.ts';
import type { Outcome, Scenario, Violation } from '../scenario.ts';

const SESSIONS = { client: 16, watcher: 4 } as const;
/** Watchers have two messages to say, and may cause a large answer by each. */
const SHARE = { client: 0.95, watcher: 0.05 } as const;
/** So many messages are sent before one waits until the server has handled them all. */
const BATCH = 10;
/** A watcher's bucket holds 50, the questions whether it was heard among them. */
const LIFE = { client: [200, 1_500], watcher: [40, 40] } as const;
const HANGS_MS = 30_000;
const APART_MS = 50;
const BAITERS = 3;
const ENOUGH = 5;

/** Messages of this protocol with something wrong in them, in every state; and real calls beside them. */
export const fuzzMessages: Scenario = {
  id: 'F28',
  name: 'mutated messages on both sockets',
  async run(context) {
    const meter = createStallMeter(await context.tempDir());
    const play = async (rig: Rig): Promise<Outcome> => {
      const count = context.rounds({ full: 200_000, short: 5_000 });
      const violations: Violation[] = [];
      const seen = { sent: 0, replies: 0, bad: 0, sockets: 0, requests: 0 };
      const bad = (detail: string) => violations.push({ invariant: 'HEALTH', detail });
      const honest = rig.client({ name: 'honest' });
      await honest.start();
      await untilListed(rig, 'effect_honest');
      await meter.start(rig.board);
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
        for (let n = first; !isOver; n += BAITERS) {
          const body = { run_id: 'run_bait', args: {}, timeout_ms: 1_000 };
          const path = `/v1/tools/fuzzed_${n % SESSIONS.client}/invoke`;
          const asked = await rig.api.ask('POST', path, { body });
          if (asked?.status === 202)
            baits.push((asked.body as { tool_call_id: string }).tool_call_id);
          await sleep(10);
        }
      };
      const bait = Promise.all(Array.from({ length: BAITERS }, (_, index) => baiter(index)));
      const kinds = (['client', 'watcher'] as const).flatMap((kind) =>
        Array.from({ length: SESSIONS[kind] }, () => kind),
      );
      await worstFirst(rig, {
        ...{ kind: 'client', index: kinds.length, count: 0, random: context.random },
        ...{ seen, asked: [], seq: 0, bad, isLost: () => false },
      });
      await Promise.all(
        kinds.map(async (kind, index) => {
          // One after the other, as a server that has just started meets all of it for the first time.
          await sleep(index * APART_MS);
          await fuzzSession(rig, {
            kind,
            index,
            count: Math.ceil((count * SHARE[kind]) / SESSIONS[kind]),
            random: context.random.fork(`${index}`),
            seen,
            asked: [],
            seq: 0,
            bad,
            isLost: () => violations.length >= ENOUGH,
          });
        }),
      );
      if (violations.length >= ENOUGH) {
        // A server that answers nobody cannot be asked for the rest.
        isOver = true;
        return { figures: seen, violations, summary: 'given up' };
      }
      const stalls = await meter.stop();
      // Not before: it is what the server reads of one connection in one go, and long.
      for (const path of ['/ws/client', '/ws/watch'] as const)
        violations.push(...(await flood(rig.board, path)));
      isOver = true;
      await Promise.all([realCalls, bait]);
      // A call that nobody is left to take would wait out its clock.
      for (const { tool_call_id: id } of await rig.api.open())
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
        summary: `${seen.sent} mutated messages in ${kinds.length} sessions over ${seen.sockets} sockets: ${violations.length} crashes or foreign replies among ${seen.replies} (${seen.bad} refusals), ${real.length} real calls beside them; ${stalls.summary}`,
      };
    };
    return inRig(context, play, { env: meter.env });
  },
};

interface Session {
  readonly kind: 'client' | 'watcher';
  readonly index: number;
  readonly count: number;
  readonly random: Random;
  readonly seen: { sent: number; replies: number; bad: number; sockets: number; requests: number };
  /** Calls that it was offered lately. */
  readonly asked: Asked[];
  /** The number of the newest event that it was told. */
  seq: number;
  bad(detail: string): void;
  /** So much is wrong already that more would tell nothing. */
  isLost(): boolean;
}

async function fuzzSession(rig: Rig, session: Session): Promise<void> {
  const { kind, index, random, seen, asked, bad } = session;
  let sent = 0;
  while (sent < session.count && !session.isLost()) {
    const line = await openLine(rig, session);
    const life = Math.min(session.count - sent, random.between(LIFE[kind][0], LIFE[kind][1]));
    for (let n = 0; n < life && line.isOpen(); n += 1) {
      const isWatcher = kind === 'watcher';
      const message = isWatcher
        ? watchMessage(random, session.seq)
        : clientMessage(random, index, asked, n);
      const isRight = n < 2 && !isWatcher && random.chance(0.8);
      line.ws.send(isRight ? JSON.stringify(message) : mutated(message, random));
      sent += 1;
      seen.sent += 1;
      const isEndOfBatch = n % BATCH === BATCH - 1;
      if (isEndOfBatch && !(await line.isHeard(`heard-${n}`)))
        bad(`${line.path} did not answer within ${HANGS_MS} ms`);
    }
    if (line.isOpen()) line.ws.close();
    const code = await Promise.race([line.closed, sleep(HANGS_MS, undefined, { ref: false })]);
    if (code === undefined) {
      bad(`a socket of ${line.path} hung when it was told to close`);
      line.ws.terminate();
    } else if (!CLOSES.includes(code)) bad(`${line.path} closed with ${code}`);
  }
}

/** Each guard meets what it is for once, whatever the choices are. */
async function worstFirst(rig: Rig, session: Session): Promise<void> {
  const line = await openLine(rig, session);
  const answer = { type: 'tool_result', id: 'tc_1', output: 1, success: true };
  const texts = [
    abyss(answer),
    JSON.stringify({ ...answer, id: 1e-320 }),
    // There is one of each length, as costs may come with one.
    ...Array.from({ length: 20 }, (_, more) =>
      JSON.stringify({
        ...answer,
        output: 'x'.repeat(more),
        attachments: [{ media_type: 'image/png', data: 'iVBORw0KGgo=' }],
      }),
    ),
  ];
  for (const [index, text] of texts.entries()) {
    line.ws.send(text);
    session.seen.sent += 1;
    if (await line.isHeard(`worst-${index}`)) continue;
    session.bad(`${line.path} did not answer within ${HANGS_MS} ms`);
    break;
  }
  line.ws.close();
}

const CLOSES = [1000, 1005, 1006, 1008, 1009, 4010, 4013];

/** A socket, whose every word from the server is held against the protocol. */
async function openLine({ board }: Rig, session: Session) {
  const { kind, seen, asked, bad } = session;
  const path = kind === 'watcher' ? '/ws/watch' : '/ws/client';
  const schema = kind === 'watcher' ? watchServerMessageSchema : serverMessageSchema;
  const ws = new WebSocket(board.url.replace('http', 'ws') + path, {
    headers: { authorization: `Bearer ${board.token}` },
    maxPayload: 2 ** 28,
    handshakeTimeout: HANGS_MS,
  });
  ws.on('error', () => {});
  let isOpen = true;
  const closed = new Promise<number>((resolve) => ws.on('close', resolve));
  void closed.then(() => {
    isOpen = false;
  });
  const heard = new Map<string, () => void>();
  ws.on('message', (data) => {
    seen.replies += 1;
    const message = JSON.parse(String(data));
    // The answer to a probe is the watch socket's own, and not among its events.
    const isOwn = kind === 'watcher' && message.type === 'probe_ack';
    if (!isOwn && !schema.safeParse(message).success)
      bad(`${path} said what is not of the protocol: ${String(data).slice(0, 300)}`);
    if (message.type === 'probe_ack') heard.get(message.nonce)?.();
    if (message.type === 'error' || message.type === 'result_rejected') seen.bad += 1;
    session.seq = message.seq ?? message.events?.at(-1)?.seq ?? session.seq;
    if (message.type !== 'tool_call_request') return;
    seen.requests += 1;
    asked.push({ id: message.id, attempt: message.attempt });
    if (asked.length > 20) asked.shift();
  });
  await Promise.race([new Promise((resolve) => ws.once('open', resolve)), closed]);
  if (!isOpen) bad(`${path} did not open within ${HANGS_MS} ms`);
  seen.sockets += 1;
  return {
    ws,
    path,
    closed,
    isOpen: () => isOpen,
    /** The server answers in order: then it has handled all that was sent before. */
    async isHeard(nonce: string): Promise<boolean> {
      const answered = new Promise<void>((resolve) => heard.set(nonce, resolve));
      ws.send(JSON.stringify({ type: 'probe', nonce }));
      const late = sleep(HANGS_MS, 'late', { ref: false });
      return (await Promise.race([answered, closed, late])) !== 'late';
    },
  };
}
