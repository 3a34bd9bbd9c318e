import { setTimeout as sleep } from 'node:timers/promises';
import type { RunRecord } from '#lib/protocol/run';
import {
  createScriptedOpenAI,
  type ScriptedRequest,
} from '../../../server/testing/scripted-openai.ts';
import type { ScriptedReply } from '../../../server/testing/scripted-openai-events.ts';
import { inRig, type Rig } from '../net/rig.ts';
import type { Random } from '../random.ts';
import type { Played, Scenario, TortureContext } from '../scenario.ts';
import { checkRuns } from '../world/check-runs.ts';
import { until } from '../world/until.ts';

const MODELS = { responses: 'openai:gpt-5-scripted', chat: 'openai-chat:scripted' } as const;
/** A turn with its retries. */
const ENDS_MS = 90_000;
/** A model that says nothing is given up after two minutes; the long run alone waits for it. */
const SILENT_ENDS_MS = 140_000;
const SILENT = 'says nothing more';
const AT_ONCE = 6;

const calls = (random: Random) =>
  Array.from({ length: random.between(1, 3) }, () => ({
    name: 'effect',
    args: { nonce: crypto.randomUUID() },
  }));

type Fault = (random: Random) => ScriptedReply;

const FAULTS: Readonly<Record<string, Fault>> = {
  '429': () => ({ status: 429, headers: { 'retry-after': '0' }, error: { message: 'slow down' } }),
  '500': () => ({ status: 500 }),
  'cut abruptly': (random) => ({
    calls: calls(random),
    pieceChars: 3,
    cut: { after: random.between(0, 20), how: 'abrupt' },
  }),
  'cut cleanly': (random) => ({
    calls: calls(random),
    pieceChars: 3,
    cut: { after: random.between(0, 20), how: 'clean' },
  }),
  'slow pieces': (random) => ({ calls: calls(random), pieceChars: 6, pieceMs: 5 }),
  stalls: (random) => ({
    calls: calls(random),
    pieceChars: 8,
    stall: { at: random.between(0, 8), until: sleep(400) },
  }),
  'nonsense arguments': () => ({
    calls: [
      { name: 'effect', args: '{"nonce": ' },
      { name: 'effect', args: 'null' },
    ],
  }),
  'wrong arguments': (random) => ({
    calls: [{ name: 'effect', args: { nonce: random.between(1, 2 ** 40) } }],
  }),
  'ids twice': (random) => ({ calls: calls(random).map((call) => ({ ...call, id: 'call_same' })) }),
  'empty ids': (random) => ({ calls: calls(random).map((call) => ({ ...call, id: '' })) }),
  'no such tool': () => ({
    calls: [
      { name: 'nope', args: {} },
      { name: '', args: {} },
    ],
  }),
  length: () => ({ text: 'cut off', finishReason: 'length' }),
  [SILENT]: (random) => ({
    calls: calls(random),
    pieceChars: 8,
    stall: { at: random.between(0, 8), until: sleep(SILENT_ENDS_MS, undefined, { ref: false }) },
  }),
};

/** The model fails in each way it can; the run ends, and what is sent to it next has its calls in pairs. */
export const modelFaults: Scenario = {
  id: 'F31',
  name: 'a model that fails, stalls, breaks off, or talks nonsense',
  async run(context) {
    // Both at once: what takes two minutes is a model that says nothing.
    const outcomes = await Promise.all(
      (['responses', 'chat'] as const).map((api) =>
        withModel({ ...context, random: context.random.fork(api) }, api),
      ),
    );
    const sum = (name: string) =>
      outcomes.reduce((all, { figures }) => all + (figures[name] ?? 0), 0);
    const names = Object.keys(outcomes[0]?.figures ?? {});
    return {
      figures: Object.fromEntries(names.map((name) => [name, sum(name)])),
      summary: `${sum('runs')} runs with ${Object.keys(FAULTS).length - (context.isShort ? 1 : 0)} faults of the model over both of OpenAI's APIs: ${sum('ended_idle')} went on to an answer, ${sum('ended_failed')} ended as failed, none hung; ${sum('checked_requests')} requests to the model had each call with one result`,
    };
  },
};

async function withModel(context: TortureContext, api: keyof typeof MODELS): Promise<Played> {
  const { random, bad } = context;
  const faultOf = new Map<string, string>();
  let checked = 0;
  const openai = await createScriptedOpenAI({
    script(request) {
      const problem = unpaired(request);
      checked += 1;
      const marker = /torture (\d+) of /.exec(JSON.stringify(request.body))?.[1] ?? '';
      if (problem) bad('I8', `run ${marker} (${faultOf.get(marker)}): ${problem}`);
      const fault = FAULTS[faultOf.get(marker) ?? ''];
      // Asked for the second time in a row it is well again.
      const times = (asked.get(marker) ?? 0) + 1;
      asked.set(marker, times);
      return times === 1 && fault ? fault(random.fork(marker)) : { text: 'Done.' };
    },
  });
  const asked = new Map<string, number>();
  const env = {
    CALLBOARD_MODEL: MODELS[api],
    OPENAI_BASE_URL: openai.url,
    OPENAI_API_KEY: 'sk-scripted',
  };
  try {
    return await inRig(
      context,
      async (rig) => {
        const client = rig.client({ name: 'hands' });
        await client.start();
        await rig.api.untilListed('effect');
        const each = context.rounds({ full: 9, short: 1 });
        const plan = [
          // First, as it takes two minutes; the others are tried meanwhile.
          ...(context.isShort ? [] : [SILENT]),
          ...Object.keys(FAULTS)
            .filter((fault) => fault !== SILENT)
            .flatMap((fault) => Array.from({ length: each }, () => fault)),
        ];
        const runs = new Set<string>();
        const ends: RunRecord[] = [];
        let next = 0;
        const lane = async () => {
          while (next < plan.length) {
            const index = next;
            next += 1;
            const fault = plan[index] ?? '';
            faultOf.set(String(index), fault);
            const input = `torture ${index} of ${plan.length}`;
            const id = await rig.api.startRun({ input, model: MODELS[api], tools: ['effect'] });
            runs.add(id);
            ends.push(...(await runToEnd(rig, id, fault)));
            // Once more: now the history of the fault goes to the model.
            const more = { body: { input: 'and again' } };
            const taken = await rig.api.ask('POST', `/v1/runs/${id}/messages`, more);
            const [after] = await runToEnd(rig, id, `after ${fault}`);
            if (after) ends.push(after);
            // The model is well again: what was sent to it can only have failed by itself.
            if (after?.status === 'idle') continue;
            const detail = `${id}: after ${fault} the history was not taken (${taken?.status}): ${after?.status} ${JSON.stringify(after?.messages.at(-1)?.parts)}`;
            bad('I8', detail);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, lane));
        const rest = await rig.rest();
        await checkRuns(rig.api, runs, rest.records, bad);
        const of = (status: string) => ends.filter((one) => one.status === status).length;
        const counts = { runs: runs.size, ended_idle: of('idle'), ended_failed: of('failed') };
        return { figures: { ...rest.figures, ...counts, checked_requests: checked }, summary: '' };
      },
      { env },
    );
  } finally {
    await openai.close();
  }
}

async function runToEnd({ api, bad }: Rig, id: string, fault: string): Promise<RunRecord[]> {
  const limit = fault === SILENT ? SILENT_ENDS_MS : ENDS_MS;
  let last: RunRecord | undefined;
  const hasEnded = async () => {
    last = await api.run(id);
    return last !== undefined && last.status !== 'running';
  };
  if (!(await until(hasEnded, limit, 30)))
    bad('I4', `${id} (${fault}) is still running after ${limit} ms`);
  return last ? [last] : [];
}

/** It tells what is wrong with the calls in a request to the model: each must have one result, and each result its call. */
function unpaired({ body, toolResults }: ScriptedRequest): string | undefined {
  const text = JSON.stringify(body);
  const items = (body.messages ?? body.input) as Record<string, unknown>[];
  const ids = items.flatMap((item) =>
    item.type === 'function_call'
      ? [String(item.call_id)]
      : ((item.tool_calls as { id: string }[] | undefined) ?? []).map(({ id }) => String(id)),
  );
  const results = toolResults.map(({ id }) => id);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  if (twice.length > 0) return `the call ${twice[0]} stands twice`;
  const missing = ids.filter((id) => results.filter((one) => one === id).length !== 1);
  if (missing.length > 0)
    return `${missing[0]} has ${results.filter((id) => id === missing[0]).length} results`;
  const stray = results.filter((id) => !ids.includes(id));
  return stray.length > 0 ? `the result ${stray[0]} has no call: ${text.slice(0, 300)}` : undefined;
}
