import { setTimeout as sleep } from 'node:timers/promises';
import { toCardStatus } from '#lib/protocol/call-status';
import { serverMessageSchema } from '#lib/protocol/server-messages';
import { connectClient } from '../../contract/kit/tool-client.ts';
import { inRig, type Rig } from '../net/rig.ts';
import type { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';

const AT_ONCE = 60;
const TIMEOUT_MS = 100;
const PATIENCE_MS = 30_000;

/** An answer, a cancel and a timeout meet within a millisecond or so; one of them is the end. */
export const endRaces: Scenario = {
  id: 'F36',
  name: 'a result, a cancel and a timeout within one millisecond',
  run: (context) =>
    inRig(context, async (rig) => {
      const { random } = context;
      const count = context.rounds({ full: 5_000, short: 150 });
      const racers = await openRacer(rig, 'race');
      await inTurn(rig, racers);
      let left = count;
      const lane = async () => {
        while (left > 0) {
          left -= 1;
          await race(rig, racers, random.fork(`${left}`));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      const rest = await rig.rest({ areAnswersNamed: false });
      await racers.client.close();
      let [results, late] = [0, 0];
      for (const [id, dispositions] of racers.told) {
        const record = rest.records.get(id);
        const hasResult = record?.status === 'SUCCEEDED';
        results += hasResult ? 1 : 0;
        late += dispositions.includes('late') ? 1 : 0;
        const isRight = hasResult
          ? dispositions.includes('accepted') && record.result === id
          : dispositions.includes('late') && record?.late_result === id;
        if (!isRight) {
          const detail = `${id} is ${record?.status}, its client got ${dispositions.join(', ')}, late: ${JSON.stringify(record?.late_result)}`;
          context.bad('I2', detail);
        }
      }
      for (const [id, { error }] of rest.records) {
        // Nobody may have run what nobody was allowed to.
        if (error?.code !== 'cancelled' || racers.grants.has(id) || error.executed === 'no')
          continue;
        const detail = `${id} was cancelled and never granted, and may have been executed: "${error.executed}"`;
        context.bad('I7', detail);
      }
      for (const [id, status] of rig.watcher.shown) {
        const record = rest.records.get(id);
        if (record && status !== toCardStatus(record.status))
          context.bad('I10', `${id} is shown as ${status} and is ${record.status}`);
      }
      const by = (code: string) =>
        [...rest.records.values()].filter(({ error }) => error?.code === code).length;
      return {
        figures: {
          ...rest.figures,
          races: racers.told.size,
          answered: results,
          late,
          cancelled: by('cancelled'),
        },
        summary: `${racers.told.size} races: ${results} ended by the result, ${by('cancelled')} by the cancel, ${by('timeout')} by the clock; each end the same over HTTP, to watchers and to the client`,
      };
    }),
};

interface Racer {
  readonly client: Awaited<ReturnType<typeof connectClient>>;
  /** The attempt that was granted; undefined when the call was not. */
  granted(id: string): Promise<number | undefined>;
  /** The first word of the server to the answer; undefined when it said nothing in time. */
  said(id: string): Promise<string | undefined>;
  /** All that it said to answers, by call. */
  readonly told: ReadonlyMap<string, readonly string[]>;
  /** Calls that were ever granted. */
  readonly grants: ReadonlySet<string>;
}

/** Claims whatever it is asked. */
async function openRacer({ board }: Rig, tool: string): Promise<Racer> {
  const hello = { name: tool, caps: ['claim', 'cancel', 'probe'], journal_epoch: tool };
  const client = await connectClient(board, { hello, tools: [tool] });
  const claims = createMailbox<number | undefined>();
  const answers = createMailbox<string>();
  const told = new Map<string, string[]>();
  const grants = new Set<string>();
  client.ws.on('message', (data) => {
    const message = serverMessageSchema.parse(JSON.parse(String(data)));
    switch (message.type) {
      case 'tool_call_request':
        return client.send({ type: 'tool_call_claim', id: message.id, attempt: message.attempt });
      case 'tool_call_granted':
        grants.add(message.id);
        return claims.put(message.id, message.attempt);
      case 'tool_call_refused':
        return claims.put(message.id, undefined);
      case 'result_acknowledged':
      case 'result_rejected': {
        const word =
          message.type === 'result_rejected' ? `refused ${message.code}` : message.disposition;
        told.set(message.id, [...(told.get(message.id) ?? []), word]);
        return answers.put(message.id, word);
      }
    }
  });
  return {
    client,
    told,
    grants,
    async granted(id) {
      const claimed = await claims.take(id);
      if (!claimed) throw new Error(`${id} was neither granted nor refused in ${PATIENCE_MS} ms`);
      return claimed.value;
    },
    said: async (id) => (await answers.take(id))?.value,
  };
}

/** It keeps what comes by an id, and whoever waits for it. */
function createMailbox<T>() {
  const came = new Map<string, { readonly value: T }>();
  const waiting = new Map<string, (one: { readonly value: T }) => void>();
  return {
    put(id: string, value: T): void {
      came.set(id, { value });
      waiting.get(id)?.({ value });
    },
    /** Undefined when it does not come in time. */
    take: (id: string): Promise<{ readonly value: T } | undefined> =>
      new Promise((resolve) => {
        const one = came.get(id);
        if (one) return resolve(one);
        const timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
        waiting.set(id, (it) => {
          clearTimeout(timer);
          resolve(it);
        });
      }),
  };
}

/** Without a race: each after the one before was heard. */
async function inTurn(rig: Rig, racer: Racer): Promise<void> {
  const { api } = rig;
  const begin = async (timeoutMs: number) => {
    const id = await api.invoke('race', { timeout_ms: timeoutMs });
    const attempt = await racer.granted(id);
    const answer = async () => {
      racer.client.send({ type: 'tool_result', id, output: id, success: true, attempt });
      await racer.said(id);
    };
    const cancel = () => api.cancel(id);
    return { id, answer, cancel };
  };
  const answered = await begin(PATIENCE_MS);
  await answered.answer();
  await answered.cancel();
  const cancelled = await begin(PATIENCE_MS);
  await cancelled.cancel();
  await cancelled.answer();
  const timedOut = await begin(TIMEOUT_MS);
  await api.end(timedOut.id, PATIENCE_MS);
  await timedOut.answer();
  await timedOut.cancel();
  await Promise.all([answered, cancelled, timedOut].map(({ id }) => readEnd(rig, id)));
}

async function race(rig: Rig, { client, granted, said }: Racer, random: Random): Promise<void> {
  const { api } = rig;
  const isTimed = random.chance(0.4);
  const isEarly = !isTimed && random.chance(0.3);
  const id = await api.invoke('race', { timeout_ms: isTimed ? TIMEOUT_MS : 5_000 });
  const cancel = async () => {
    await spin(random.between(0, 1_000));
    return api.cancel(id);
  };
  // Against the claim, which is on its way.
  const earlyCancel = isEarly ? cancel() : undefined;
  const isOver = (await earlyCancel) && (await api.read(id)).status === 'FAILED';
  const attempt = isOver ? undefined : await granted(id);
  if (attempt === undefined) return readEnd(rig, id);
  if (isTimed) await sleep(TIMEOUT_MS - 2 + random.between(-2, 3));
  const answer = async () => {
    await spin(random.between(0, 1_000));
    client.send({ type: 'tool_result', id, output: id, success: true, attempt });
  };
  if (isEarly) await answer();
  else await Promise.all(random.chance(0.5) ? [answer(), cancel()] : [cancel(), answer()]);
  if ((await said(id)) === undefined)
    return rig.bad('I2', `${id} was answered, and the server said nothing to it`);
  return readEnd(rig, id);
}

/** The end of a call is the same at each look. */
async function readEnd({ api, bad }: Rig, id: string): Promise<void> {
  const ends = [await api.read(id, PATIENCE_MS), await api.read(id)].map(({ status }) => status);
  if (ends[0] !== ends[1]) bad('I3', `${id} was read as ${ends.join(' and then as ')}`);
}

/** Microseconds; no timer is so fine. */
async function spin(microseconds: number): Promise<void> {
  const until = performance.now() + microseconds / 1_000;
  await new Promise((resolve) => setImmediate(resolve));
  while (performance.now() < until) await Promise.resolve();
}
