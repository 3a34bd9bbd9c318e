import { setTimeout as sleep } from 'node:timers/promises';
import { CLOSE, serverMessageSchema } from '#lib/protocol/server-messages';
import { watchServerMessageSchema } from '#lib/protocol/watch-messages';
import { openSocket } from '../../contract/kit/socket.ts';
import { abyss, mutated } from '../net/mutate.ts';
import { makeRealCalls } from '../net/real-calls.ts';
import { inRig, type Rig } from '../net/rig.ts';
import { type Asked, clientMessage, watchMessage } from '../net/right-messages.ts';
import { createStallMeter } from '../net/stall-meter.ts';
import type { Random } from '../random.ts';
import type { Played, Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';

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
/** Far more than a connection may send at once, and in the time that the server takes to read them. */
const FLOOD = { '/ws/client': 20_000, '/ws/watch': 1_000 } as const;

/** Messages of this protocol with something wrong in them, in every state; and real calls beside them. */
export const fuzzMessages: Scenario = {
  id: 'F28',
  name: 'mutated messages on both sockets',
  async run(context) {
    const meter = createStallMeter(await context.tempDir());
    const play = async (rig: Rig): Promise<Played> => {
      const count = context.rounds({ full: 200_000, short: 5_000 });
      const { random, violations } = context;
      const seen = { sent: 0, replies: 0, bad: 0, sockets: 0, requests: 0 };
      const bad = (detail: string) => context.bad('HEALTH', detail);
      const real = await makeRealCalls(rig, 20);
      await meter.start(rig.board);
      const bait = startBait(rig);
      const kinds = (['client', 'watcher'] as const).flatMap((kind) =>
        Array.from({ length: SESSIONS[kind] }, () => kind),
      );
      const common = { seen, seq: 0, bad, isLost: () => violations.length >= ENOUGH };
      const first = { ...common, kind: 'client', index: kinds.length, count: 0, random } as const;
      await worstFirst(rig, { ...first, asked: [] });
      await Promise.all(
        kinds.map(async (kind, index) => {
          // One after the other, as a server that has just started meets all of it for the first time.
          await sleep(index * APART_MS);
          const share = Math.ceil((count * SHARE[kind]) / SESSIONS[kind]);
          const own = { kind, index, count: share, random: random.fork(`${index}`), asked: [] };
          await fuzzSession(rig, { ...common, ...own });
        }),
      );
      if (violations.length >= ENOUGH) {
        // A server that answers nobody cannot be asked for the rest.
        void Promise.all([real.stop(), bait.stop()]);
        return { figures: seen, summary: 'given up' };
      }
      const crashes = violations.length;
      const stalls = await meter.stop(context.bad);
      // Not before: it is what the server reads of one connection in one go, and long.
      await flood(rig, '/ws/client');
      await flood(rig, '/ws/watch');
      const [, baits] = await Promise.all([real.stop(), bait.stop()]);
      // A call that nobody is left to take would wait out its clock.
      for (const { tool_call_id: id } of await rig.api.open()) await rig.api.cancel(id);
      const rest = await rig.rest({ areAnswersNamed: false });
      mustSucceed(context.bad, rest.records, 'it was a real call beside the fuzzing', real.ids);
      const counts = { ...seen, bait_calls: baits, real_calls: real.ids.length };
      return {
        figures: { ...rest.figures, ...counts, ...stalls.figures },
        summary: `${seen.sent} mutated messages in ${kinds.length} sessions over ${seen.sockets} sockets: ${crashes} crashes or foreign replies among ${seen.replies} (${seen.bad} refusals), ${real.ids.length} real calls beside them; ${stalls.summary}`,
      };
    };
    return inRig(context, play, { env: meter.env });
  },
};

/** Calls of the tools that the sessions offer, so that there is something to answer. */
function startBait({ api }: Rig): { stop(): Promise<number> } {
  let [isOver, accepted] = [false, 0];
  const baiter = async (_: unknown, first: number) => {
    for (let n = first; !isOver; n += BAITERS) {
      const asked = await api.ask('POST', `/v1/tools/fuzzed_${n % SESSIONS.client}/invoke`, {
        body: { run_id: 'run_bait', args: {}, timeout_ms: 1_000 },
      });
      if (asked?.status === 202) accepted += 1;
      await sleep(10);
    }
  };
  const all = Promise.all(Array.from({ length: BAITERS }, baiter));
  return {
    async stop() {
      isOver = true;
      await all;
      return accepted;
    },
  };
}

/** Sends small messages, each of them right, as fast as it can: the server has to hang up. */
async function flood({ board, bad }: Rig, path: keyof typeof FLOOD): Promise<void> {
  const line = await openSocket(board, path, () => []);
  for (let sent = 0; sent < FLOOD[path]; sent += 1) line.send('{"type":"probe","nonce":"n"}');
  const end = await Promise.race([line.closed, sleep(HANGS_MS, undefined, { ref: false })]);
  void line.vanish();
  // When it was still sending as the server hung up, the reason is lost on the way.
  if (end?.code === CLOSE.policy || end?.code === 1006) return;
  const detail = `${FLOOD[path]} messages at once over ${path}: ${end?.code ?? 'open'} after ${HANGS_MS} ms; ${CLOSE.policy} is right`;
  bad('HEALTH', detail);
}

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
    if (line.isOpen()) void line.close();
    const end = await Promise.race([line.closed, sleep(HANGS_MS, undefined, { ref: false })]);
    if (!end) {
      bad(`a socket of ${line.path} hung when it was told to close`);
      void line.vanish();
    } else if (!CLOSES.includes(end.code)) bad(`${line.path} closed with ${end.code}`);
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
  void line.close();
}

const CLOSES = [1000, 1005, 1006, 1008, 1009, 4010, 4013];

/** What is looked at of a message that the server sends. */
interface Told {
  readonly type: string;
  readonly nonce: string;
  readonly id: string;
  readonly attempt: number;
  readonly seq?: number;
  readonly events?: readonly { readonly seq: number }[];
}

/** A socket, whose every word from the server is held against the protocol. */
async function openLine({ board }: Rig, session: Session) {
  const { kind, seen, asked, bad } = session;
  const path = kind === 'watcher' ? '/ws/watch' : '/ws/client';
  const schema = kind === 'watcher' ? watchServerMessageSchema : serverMessageSchema;
  const heard = new Map<string, () => void>();
  const take = (value: unknown) => {
    seen.replies += 1;
    const message = value as Told;
    // The answer to a probe is the watch socket's own, and not among its events.
    const isOwn = kind === 'watcher' && message.type === 'probe_ack';
    if (!isOwn && !schema.safeParse(value).success)
      bad(`${path} said what is not of the protocol: ${JSON.stringify(value).slice(0, 300)}`);
    if (message.type === 'probe_ack') heard.get(message.nonce)?.();
    if (message.type === 'error' || message.type === 'result_rejected') seen.bad += 1;
    session.seq = message.seq ?? message.events?.at(-1)?.seq ?? session.seq;
    if (message.type === 'tool_call_request') {
      seen.requests += 1;
      asked.push({ id: message.id, attempt: message.attempt });
      if (asked.length > 20) asked.shift();
    }
    return [];
  };
  const { ws, closed, close, vanish } = await openSocket(board, path, take);
  seen.sockets += 1;
  return {
    ws,
    path,
    closed,
    close,
    vanish,
    isOpen: () => ws.readyState === ws.OPEN,
    /** The server answers in order: then it has handled all that was sent before. */
    async isHeard(nonce: string): Promise<boolean> {
      const answered = new Promise<void>((resolve) => heard.set(nonce, resolve));
      ws.send(JSON.stringify({ type: 'probe', nonce }));
      const late = sleep(HANGS_MS, 'late', { ref: false });
      return (await Promise.race([answered, closed, late])) !== 'late';
    },
  };
}
