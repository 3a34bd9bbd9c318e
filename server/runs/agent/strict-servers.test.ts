import { expect, test } from 'vitest';
import { isRecord } from '#lib/json/is-record';
import type { Script, ScriptedRequest } from '../../testing/scripted-openai.ts';
import type { ScriptedReply } from '../../testing/scripted-openai-events.ts';
import type { RunService } from '../agent-runs.ts';
import { echo, gate, hanging, inOrder, setupTurns } from './testing/setup-turns.ts';

type Json = Record<string, unknown>;

const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const messagesOf = ({ body }: ScriptedRequest): Json[] => list(body.messages);

/** What Mistral's servers, and the templates of many models, refuse. */
function refusal(messages: readonly Json[]): string | undefined {
  for (const [at, { role, tool_calls: calls }] of messages.entries()) {
    const before = messages[at - 1]?.role;
    if (before === 'tool' && role === 'user') return "Unexpected role 'user' after role 'tool'";
    if (before === role && role !== 'tool') return 'Conversation roles must alternate';
    for (const { id } of list(calls)) {
      if (!/^[A-Za-z0-9]{9}$/.test(String(id))) return `Tool call id was ${id}`;
    }
  }
  return undefined;
}

/** A server that is as strict, and answers what it takes as `script` says. */
function strict(script: Script): Script {
  let refused = 0;
  return (request) => {
    const message = refusal(messagesOf(request));
    if (message === undefined) return script({ ...request, index: request.index - refused });
    refused += 1;
    return { status: 400, error: { message } };
  };
}

const statusOf = async (runs: RunService, runId: string) => (await runs.get(runId))?.status;

const STRICT = 'compatible:mistral';
const picture = { blob_id: 'blob_1', media_type: 'image/png', size: 3 };
const shoots = {
  name: 'camera.shoot',
  run: () => ({ output: 'done', attachments: [picture] }),
};
const call = (name: string, id = 'abcDEF123'): ScriptedReply => ({
  calls: [{ name, args: {}, id }],
});

test('[AL48] a strict server takes a turn in which a tool gives a picture', async () => {
  const { turn, openai } = await setupTurns({
    model: STRICT,
    script: strict(inOrder(call('camera_shoot'), { text: 'ok' })),
    tools: [shoots],
    models: { settings: { [STRICT]: { images: true } } },
  });
  expect(await turn('look')).toMatchObject({ status: 'idle' });
  expect(openai.requests[1]?.images).toHaveLength(1);
});

test('[AL48] a strict server takes what a person says while a call runs, after a stop, and after a request that failed', async () => {
  const running = gate();
  const { runs, start } = await setupTurns({
    model: STRICT,
    script: strict(
      inOrder(call('demo_hang'), call('demo_echo', 'abcDEF124'), { status: 401 }, { text: 'ok' }),
    ),
    tools: [hanging(running.resolve), echo],
  });
  const runId = await start('go');
  await running.promise;
  await runs.send(runId, { input: 'also this' });
  await runs.send(runId, { input: 'and that' });
  await runs.cancel(runId);
  await runs.send(runId, { input: 'now?' });
  await expect.poll(() => statusOf(runs, runId)).toBe('failed');
  await runs.send(runId, { input: 'and now?' });
  await expect.poll(() => statusOf(runs, runId)).toBe('idle');
});

test('[AL48] a strict server goes on with the conversation of another model', async () => {
  const { runs, start, ended } = await setupTurns({
    model: 'openai-chat:gpt-4o',
    script: ({ index, ...request }) =>
      index < 2
        ? inOrder(call('demo_echo', 'call_Abcdefghijklmnopqrstuvwx'), { text: 'ok' })({
            ...request,
            index,
          })
        : strict(() => ({ text: 'go on' }))({ ...request, index }),
    tools: [echo],
  });
  const runId = await start('go');
  await ended(runId);
  await runs.send(runId, { input: 'go on', model: STRICT });
  await expect.poll(() => statusOf(runs, runId)).toBe('idle');
});

test('[AL170] a model of a compatible server is sent back its thoughts, also after a restart, and no other is', async () => {
  const thinking: ScriptedReply = { reasoning: 'I should echo.', ...call('demo_echo') };
  const first = await setupTurns({
    model: 'compatible:deepseek',
    script: inOrder(thinking, { text: 'ok' }),
    tools: [echo],
  });
  const thoughts = (request: ScriptedRequest | undefined) =>
    (request ? messagesOf(request) : []).flatMap((one) => one.reasoning_content ?? []);
  const runId = await first.start('go');
  await first.ended(runId);
  expect(thoughts(first.openai.requests[1])).toEqual(['I should echo.']);

  const again = await first.restarted({ script: () => ({ text: 'Still.' }) });
  await again.runs.send(runId, { input: 'and now?' });
  await again.ended(runId);
  expect(thoughts(again.openai.requests[0])).toEqual(['I should echo.']);
  await again.runs.send(runId, { input: 'and you?', model: STRICT });
  await expect.poll(() => again.openai.requests.length).toBe(2);
  expect(thoughts(again.openai.requests[1])).toEqual([]);
});
