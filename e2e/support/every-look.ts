import type { Page } from '@playwright/test';
import { expect } from '@playwright/test';
import { post } from '../contract/kit/ask.ts';
import { invoke } from '../contract/kit/calls.ts';
import type { Connect } from '../contract/kit/contract-test.ts';
import { spec } from '../contract/kit/tool-client.ts';
import type { Callboard } from '../start-callboard.ts';

/** A policy under which `gate.open` waits for a person, and a tool by which a model asks one. */
export const ASKING_POLICY = { policy: { ask: ['gate.open'] }, tools: { ask_human: {} } };

/** A picture of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const RESULTS = [
  'Plain text, with a second line\nand an end.',
  { latitude: 53.5413, longitude: 9.9841, accuracy: 12 },
  { place: 'Cuxhaven', temperature_c: 12, humidity_percent: 80, conditions: 'Fog' },
  [
    { tide: 'high', at: '12:00', level: 2.4 },
    { tide: 'low', at: '18:10', level: 0.3 },
  ],
  { name: 'gauge', ready: true, channels: ['a', 'b'] },
  { deep: { 'deep\u200ber': { deepest: [1, 2, { x: null }, 'a\u202eb'] } } },
  42,
  null,
  '',
];

/** So many that arguments with them scroll. */
const STOPS = Array.from({ length: 30 }, (_, at) => `stop ${at}`);

/**
 * Makes one call of each look that stands still: waiting for approval, for a
 * client, running, asked at the device, done with every view of a result, and
 * every way to fail. Gives how many.
 */
export async function makeEveryLook(board: Callboard, connect: Connect): Promise<number> {
  const program = await connect.client(board, {
    hello: { name: 'Tide gauge', kind: 'program' },
    tools: [
      spec('tide.read', { timeout_ms: 600_000 }),
      spec('tide.slow', { timeout_ms: 100 }),
      'gate.open',
    ],
  });
  const sleeper = await connect.client(board, {
    hello: { name: 'Sleeper', kind: 'program', caps: ['claim'] },
    tools: ['sleeper.wake', 'sleeper.leave'],
  });
  const ask = async (tool: string, args: unknown = {}) => invoke(board, tool, args);
  const asked = async (args: unknown = {}) => {
    const id = await ask('tide.read', args);
    await program.request();
    return id;
  };

  for (const result of RESULTS) program.succeed(await asked({ place: 'Cuxhaven' }), result);
  program.succeed(await asked(), null, {
    attachments: [{ media_type: 'image/png', data: PIXEL, name: 'gauge.png', alt: 'The gauge' }],
  });
  program.fail(await asked(), 'the gauge is dry');
  program.fail(await asked(), 'no', { code: 'permission_denied' });
  await ask('tide.slow');
  await program.request();
  const cancelled = await ask('gate.open', { gate: 1 });
  await post(board, `/v1/tool_calls/${cancelled}/cancel`);
  const denied = await ask('gate.open', { gate: 2 });
  await post(board, `/v1/tool_calls/${denied}/approval`, { decision: 'no', note: 'not today' });

  const left = await ask('sleeper.leave');
  await sleeper.claim(await sleeper.request());
  expect(left).toMatch(/^tc_/);
  await sleeper.close();
  await ask('gate.open', { gate: 3, note: 'for the\u3164tall ship', stops: STOPS });
  await ask('ask_human', { question: 'Which gate?', choices: [{ label: 'North' }] });
  await ask('ask_human', { question: 'Why?' });
  const device = await asked();
  program.send({ type: 'tool_status', id: device, phase: 'device' });
  const running = await asked({ place: 'Cuxhaven' });
  program.send({
    type: 'tool_status',
    id: running,
    tip: 'Reading the gauge',
    progress: { done: 3, total: 4 },
    preview: { level: '2.1 m' },
  });
  await asked();
  return RESULTS.length + 13;
}

export const lookKinds = (page: Page): Promise<(string | undefined)[]> =>
  page
    .getByTestId('tool-card')
    .evaluateAll((all) =>
      all.flatMap((card) => (card instanceof HTMLElement ? [card.dataset.look] : [])),
    );
