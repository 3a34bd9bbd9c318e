import { setTimeout as sleep } from 'node:timers/promises';
import { connectClient, spec, type ToolClient } from '../../contract/kit/tool-client.ts';
import { CAPS, openWorker, type RawWorker, reopenWorker } from '../net/raw-worker.ts';
import { inRig, type Rig } from '../net/rig.ts';
import type { Scenario } from '../scenario.ts';
import { PATIENCE_MS, until } from '../world/until.ts';

/** Where what should come is said to have not come. */
const SILENT_MS = 15_000;

/**
 * Raw clients answer what they were not asked, what they were asked before,
 * what was not granted, and what has ended. None of it may count.
 */
export const answersOfOthers: Scenario = {
  id: 'I11',
  name: 'answers of others, of older attempts and instances, before a grant and after the end',
  inShort: true,
  run: (context) =>
    inRig(context, async (rig) => {
      const rounds = context.rounds({ full: 50, short: 1 });
      let tried = 0;
      for (let round = 0; round < rounds; round += 1) {
        for (const attack of ATTACKS) {
          // The findings of the others are kept.
          await attack(rig, `a${round}`).catch((error) =>
            rig.bad('RUN', `${attack.name}: ${error}`),
          );
          tried += 1;
        }
      }
      const taken = context.violations.length;
      const { figures } = await rig.rest({ areAnswersNamed: false });
      return {
        figures: { ...figures, tried },
        summary: `${tried} × answers that must not count (other client, other instance, older attempt, not granted, after the end): ${taken} taken`,
      };
    }),
};

const open = (rig: Rig, name: string, tool: string, hello: object = {}): Promise<ToolClient> =>
  connectClient(rig.board, {
    patienceMs: PATIENCE_MS,
    hello: { name, instance_id: `${name}-i`, journal_epoch: name, caps: CAPS, ...hello },
    tools: [spec(tool, { annotations: { idempotentHint: true } })],
  });

/** The server says this to an answer. It may say nothing, over a connection that no longer counts. */
const verdict = async (client: ToolClient, id: string, output: unknown, more = {}) => {
  const replies = () =>
    client.inbox.flatMap((message) => {
      if (message.type === 'result_rejected' && message.id === id) return ['refused'];
      return message.type === 'result_acknowledged' && message.id === id
        ? [message.disposition]
        : [];
    });
  const before = replies().length;
  client.succeed(id, output, more);
  await until(() => replies().length > before, PATIENCE_MS, 2);
  return replies()[before] ?? 'not answered';
};

const result = ({ api }: Rig, id: string) => api.end(id, 30_000);

async function isGranted(
  worker: RawWorker,
  { id, attempt }: { id: string; attempt: number },
): Promise<boolean> {
  const replies = () =>
    [...worker.all('tool_call_granted'), ...worker.all('tool_call_refused')].filter(
      (message) => message.id === id && message.attempt === attempt,
    );
  worker.send({ type: 'tool_call_claim', id, attempt });
  await until(() => replies().length > 0, PATIENCE_MS);
  return replies()[0]?.type === 'tool_call_granted';
}

/** The offer that the call got on this connection. A later call's is written after it: by then it has come. */
async function offeredAgain(rig: Rig, worker: RawWorker, id: string) {
  const later = await rig.api.invoke(worker.tool);
  const last = await worker.next('tool_call_request', (request) => request.id === later);
  if (await isGranted(worker, last)) worker.act(later);
  worker.answer(later, last.attempt);
  return worker.all('tool_call_request').find((request) => request.id === id);
}

/** A call of little time, which was granted; where the disk takes longer for a grant than that, of more. */
async function grantedBriefly(rig: Rig, asked: ToolClient, tool: string) {
  for (let timeoutMs = 120; timeoutMs < PATIENCE_MS; timeoutMs *= 2) {
    const id = await rig.api.invoke(tool, { timeout_ms: timeoutMs });
    const { attempt } = await asked.request();
    asked.send({ type: 'tool_call_claim', id, attempt });
    const got = (type: 'tool_call_granted' | 'tool_call_refused') =>
      asked.all(type).some((message) => message.id === id);
    await until(() => got('tool_call_granted') || got('tool_call_refused'), PATIENCE_MS);
    if (got('tool_call_granted')) return { id, attempt };
  }
  throw new Error(`no grant of ${tool} was written in time`);
}

const ATTACKS: readonly ((rig: Rig, name: string) => Promise<void>)[] = [
  async function anotherClient(rig, name) {
    const tool = `other_${name}`;
    const [asked, other] = [
      await open(rig, `${name}-asked`, tool),
      await open(rig, `${name}-other`, `x_${name}`),
    ];
    const id = await rig.api.invoke(tool);
    const request = await asked.request();
    await asked.claim(request);
    const said = await verdict(other, id, 'of another client', { attempt: request.attempt });
    if (said !== 'refused') rig.bad('I11', `${id}: the answer of another client was ${said}`);
    await verdict(asked, id, 'own', { attempt: request.attempt });
    const { result: stands } = await result(rig, id);
    if (stands !== 'own')
      rig.bad('I11', `${id} has the result ${JSON.stringify(stands)} of another client`);
    await Promise.all([asked.close(), other.close()]);
  },
  async function notGranted(rig, name) {
    const tool = `ungranted_${name}`;
    const asked = await open(rig, `${name}-early`, tool);
    const id = await rig.api.invoke(tool);
    const request = await asked.request();
    const said = await verdict(asked, id, 'before the grant', { attempt: request.attempt });
    if (said !== 'refused') rig.bad('I11', `${id}: an answer before the grant was ${said}`);
    await asked.close();
    await rig.api.cancel(id);
  },
  async function olderAttempt(rig, name) {
    const tool = `stale_${name}`;
    const first = await open(rig, `${name}-stale`, tool);
    const id = await rig.api.invoke(tool);
    const request = await first.request();
    await first.claim(request);
    const { client_id, resume_token } = first.welcome;
    await first.vanish();
    const again = await open(rig, `${name}-stale`, tool, { client_id, resume_token, known: [] });
    const second = await again.request();
    await again.claim(second);
    const said = await verdict(again, id, 'of the first attempt', { attempt: request.attempt });
    if (said !== 'refused')
      rig.bad(
        'I11',
        `${id}: the answer of attempt ${request.attempt} was ${said} in attempt ${second.attempt}`,
      );
    await verdict(again, id, 'of the second attempt', { attempt: second.attempt });
    const { result: stands } = await result(rig, id);
    if (stands !== 'of the second attempt')
      rig.bad('I11', `${id} has the result ${JSON.stringify(stands)}`);
    await again.close();
  },
  async function olderInstance(rig, name) {
    const tool = `fenced_${name}`;
    const old = await open(rig, `${name}-fenced`, tool);
    const { client_id, resume_token } = old.welcome;
    const id = await rig.api.invoke(tool);
    const request = await old.request();
    await old.claim(request);
    // It knows that it runs, so the call stays where it is: with the newer connection.
    const known = [{ id, attempt: request.attempt, phase: 'running' }];
    const now = await open(rig, `${name}-fenced`, tool, { client_id, resume_token, known });
    old.succeed(id, 'of the older connection', { attempt: request.attempt });
    const code = await Promise.race([
      old.closed.then((end) => end.code),
      sleep(SILENT_MS, 'nothing'),
    ]);
    if (code !== 4010)
      rig.bad('I11', `the older connection of ${name} was closed with ${code}, not 4010`);
    if (old.inbox.some((one) => one.type === 'result_acknowledged' && one.id === id))
      rig.bad('I11', `${id}: an answer over a superseded connection was taken`);
    await now.settled();
    if (!(await rig.api.tools('/api/tools')).includes(tool))
      rig.bad('I14', `${tool} left the list though its client is there`);
    const said = await verdict(now, id, 'of the newer connection', { attempt: request.attempt });
    const { result: stands } = await result(rig, id);
    if (said !== 'accepted' || stands !== 'of the newer connection')
      rig.bad(
        'I11',
        `${id}: the newer connection was told ${said}, the result is ${JSON.stringify(stands)}`,
      );
    await now.close();
  },
  async function afterTheEnd(rig, name) {
    const tool = `ended_${name}`;
    const asked = await open(rig, `${name}-ended`, tool);
    const id = await rig.api.invoke(tool);
    const request = await asked.request();
    const { attempt } = await asked.claim(request);
    await verdict(asked, id, 'first', { attempt });
    const same = await verdict(asked, id, 'first', { attempt });
    if (same !== 'duplicate')
      rig.bad('I2', `${id}: the same answer again was ${same}, not a duplicate`);
    const other = await verdict(asked, id, 'second', { attempt });
    if (other !== 'refused')
      rig.bad('I2', `${id}: a different second answer was ${other}, not refused`);
    const { result: stands } = await result(rig, id);
    if (stands !== 'first')
      rig.bad('I3', `${id} changed from "first" to ${JSON.stringify(stands)} (${other})`);
    await asked.close();
  },
  async function cancelledAfterTheEnd(rig, name) {
    const tool = `final_${name}`;
    const asked = await open(rig, `${name}-final`, tool);
    const id = await rig.api.invoke(tool);
    const { attempt } = await asked.claim(await asked.request());
    await verdict(asked, id, 'first', { attempt });
    await rig.api.cancel(id);
    await rig.api.ask('POST', `/v1/tool_calls/${id}/answer`, { body: { output: 'by hand' } });
    const after = await result(rig, id);
    if (after.status !== 'SUCCEEDED' || after.result !== 'first')
      rig.bad(
        'I3',
        `${id} had succeeded, and is ${after.status} with ${JSON.stringify(after.result)}`,
      );
    await asked.close();
  },
  /** Its journal proves that it never started the call; a claim of the offer before it lies in the line. */
  async function claimedBeforeItIsOfferedAgain(rig, name) {
    const tool = `effect_owed_${name}`;
    const first = await openWorker(rig, tool);
    const id = await rig.api.invoke(tool);
    const { attempt } = await first.request();
    await first.vanish();
    const back = await reopenWorker(rig, first, { known: [], registers: false });
    if (await isGranted(back, { id, attempt })) back.act(id);
    await back.register(tool);
    const again = await offeredAgain(rig, back, id);
    if (!again) return rig.bad('I6', `${id}: its client is back, and it was not offered again`);
    if (await isGranted(back, again)) back.act(id);
    back.answer(id, again.attempt);
    if (rig.effects.get(id)?.length !== 1)
      rig.bad('I5', `${id}: granted under the attempts ${attempt} and ${again.attempt}`);
    await back.close();
  },
  /** It said that the tool may be repeated, lost its journal in mid-run, and says the contrary now. */
  async function offeredToOneThatMayNotRepeat(rig, name) {
    const tool = `effect_repeated_${name}`;
    const first = await openWorker(rig, tool, { registers: false });
    await first.register(spec(tool, { annotations: { readOnlyHint: true } }));
    const id = await rig.api.invoke(tool);
    const { attempt } = await first.claim(await first.request());
    first.act(id);
    await first.vanish();
    const back = await reopenWorker(rig, first, { known: [], journal_epoch: `${tool}-new` });
    const again = await offeredAgain(rig, back, id);
    if (again && (await isGranted(back, again))) {
      back.act(id);
      rig.bad('I5', `${id}: it was granted, and then offered and granted again; it has effects`);
    }
    back.answer(id, again?.attempt ?? attempt);
    await back.settled();
    await back.close();
  },
  async function afterATimeout(rig, name) {
    const tool = `late_${name}`;
    const asked = await open(rig, `${name}-late`, tool);
    const { id, attempt } = await grantedBriefly(rig, asked, tool);
    const { status } = await result(rig, id);
    const said = await verdict(asked, id, 'late', { attempt });
    const after = await result(rig, id);
    if (status !== 'TIMEOUT' || after.status !== 'TIMEOUT' || after.result !== null)
      rig.bad(
        'I3',
        `${id} was ${status} and is ${after.status} with ${JSON.stringify(after.result)}`,
      );
    if (said !== 'late' || after.late_result !== 'late')
      rig.bad(
        'I2',
        `${id}: a late answer was told ${said}; kept is ${JSON.stringify(after.late_result)}`,
      );
    await asked.close();
  },
  async function gone(rig, name) {
    const tool = `ghost_${name}`;
    const asked = await open(rig, `${name}-ghost`, tool);
    await asked.close();
    const isGone = async () => !(await rig.api.tools('/api/tools')).includes(tool);
    if (!(await until(isGone, SILENT_MS)))
      rig.bad('I14', `${tool} is in the list after its client has left`);
  },
];
