import { expect, test } from 'vitest';
import { currentMessages } from '#lib/protocol/current-messages';
import type { Message } from '#lib/protocol/run';
import {
  echo,
  gate,
  inOrder,
  setupTurns,
  type TurnSetup,
  texts,
} from './agent/testing/setup-turns.ts';

/** A run whose first message was answered with a call and a text. */
async function setup(more: Partial<TurnSetup> = {}) {
  const script = inOrder(
    { calls: [{ name: 'demo_echo', args: { text: 'x' } }] },
    { text: 'First answer.' },
    { text: 'Second answer.' },
  );
  const made = await setupTurns({ script, tools: [echo], ...more });
  const run = await made.turn('echo x');
  const [asked] = run.messages;
  if (!asked) throw new Error('no message');
  /** Until the run is idle after this message. */
  const resend = async (request: { input?: string; replaces: string; model?: string }) => {
    const seen = made.bus.events.length;
    const outcome = await made.runs.send(run.run_id, request);
    if (!outcome.ok) return outcome;
    await made.bus.until(
      (event) => event.seq > seen && event.type === 'run' && event.run.status !== 'running',
    );
    return outcome;
  };
  const now = async () => (await made.runs.get(run.run_id))?.messages ?? [];
  return { ...made, run, asked, resend, now };
}

const wordsOf = (messages: readonly Message[]) => messages.flatMap(({ parts }) => texts(parts));

test('[RU42] an answer is asked for again: the model is sent the same words alone, and the record has both', async () => {
  const { asked, resend, now, openai, calls } = await setup();
  await resend({ replaces: asked.message_id });
  const messages = await now();
  expect(wordsOf(messages)).toEqual(['echo x', 'First answer.', 'echo x', 'Second answer.']);
  expect(messages.at(-2)).toMatchObject({ role: 'user', replaces: asked.message_id });
  expect(wordsOf(currentMessages(messages))).toEqual(['echo x', 'Second answer.']);
  expect([...calls.records.keys()]).toEqual(['tc_1']);
  const body = JSON.stringify(openai.requests[2]?.body.messages);
  expect(body.match(/echo x/g)).toHaveLength(1);
  expect(body).not.toContain('First answer.');
  expect(openai.requests[2]?.toolResults).toEqual([]);
});

test('[RU42] an edited message takes the place of the first, also after a restart', async () => {
  const { asked, resend, now, run, restarted } = await setup();
  await resend({ replaces: asked.message_id, input: 'echo y' });
  const edited = (await now()).at(-2)?.message_id ?? '';
  const again = await restarted({ script: () => ({ text: 'Third answer.' }) });
  expect((await again.runs.send(run.run_id, { input: 'and z' })).ok).toBe(true);
  await again.ended(run.run_id);
  const body = JSON.stringify(again.openai.requests[0]?.body.messages);
  for (const kept of ['echo y', 'Second answer.', 'and z']) expect(body).toContain(kept);
  for (const replaced of ['echo x', 'First answer.']) expect(body).not.toContain(replaced);
  const page = { runId: run.run_id, maxChars: 1e6 };
  const { messages: stored } = await again.store.listMessages(page);
  expect(stored.find(({ message_id }) => message_id === edited)?.replaces).toBe(asked.message_id);
  expect(wordsOf(stored)).toContain('First answer.');
});

test('[RU42] only a message of a person that is still part of the conversation is replaced', async () => {
  const { asked, resend, run, now, runs } = await setup();
  const answer = run.messages.at(-1)?.message_id ?? '';
  expect(await resend({ replaces: answer })).toMatchObject({ ok: false, code: 'bad_request' });
  expect(await resend({ replaces: 'msg_none' })).toMatchObject({ ok: false, code: 'bad_request' });
  await resend({ replaces: asked.message_id });
  expect(await resend({ replaces: asked.message_id })).toMatchObject({ code: 'bad_request' });
  const again = (await now()).at(-2)?.message_id ?? '';
  expect(await resend({ replaces: again, input: '  ' })).toMatchObject({ code: 'bad_request' });
  expect(await runs.send(run.run_id, {})).toMatchObject({ code: 'bad_request' });
  expect(await now()).toHaveLength(5);
});

test('[RU42] while a turn runs no message is replaced', async () => {
  const never = gate();
  const asked = gate();
  const { runs, start } = await setupTurns({
    script: () => {
      asked.resolve();
      return { text: 'late', stall: { at: 0, until: never.promise } };
    },
  });
  const runId = await start('go');
  await asked.promise;
  const messageId = (await runs.get(runId))?.messages[0]?.message_id ?? '';
  expect(await runs.send(runId, { replaces: messageId })).toMatchObject({ code: 'conflict' });
  await runs.cancel(runId);
  expect((await runs.get(runId))?.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
});

test('[RU42] what replaces a replaced message replaces nothing, and an older one all before it', () => {
  const message = (message_id: string, replaces?: string) => ({
    message_id,
    ...(replaces === undefined ? {} : { replaces }),
  });
  const ids = (messages: Parameters<typeof currentMessages>[0]) =>
    currentMessages(messages).map(({ message_id }) => message_id);
  const once = [message('a'), message('b'), message('c', 'b'), message('d')];
  expect(ids(once)).toEqual(['a', 'c', 'd']);
  expect(ids([...once, message('e', 'b')])).toEqual(['a', 'c', 'd', 'e']);
  expect(ids([...once, message('e', 'older'), message('f')])).toEqual(['e', 'f']);
  expect(ids([...once, message('e', 'a')])).toEqual(['e']);
});
