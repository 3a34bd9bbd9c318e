import { expect, test } from 'vitest';
import { z } from 'zod';
import type { CheckVerdict as Verdict } from '../../approvals/check.ts';
import { operator } from '../../calls/testing/setup-calls.ts';
import { ECHO, setupMcp } from './testing/setup-mcp.ts';

const TASKS = { 'io.modelcontextprotocol/tasks': {} };
const CAPABLE = { elicitation: { url: {} }, extensions: TASKS };
const BOARD = 'https://board.example';

const taskSchema = z.looseObject({
  taskId: z.string(),
  status: z.string(),
  inputRequests: z
    .record(
      z.string(),
      z.object({
        method: z.literal('elicitation/create'),
        params: z.object({ mode: z.literal('url'), message: z.string(), url: z.url() }),
      }),
    )
    .optional(),
});

/** Each call waits for a person. */
const ASKING = {
  publicUrl: BOARD,
  calls: { check: (): Verdict => ({ verdict: 'ask', reason: 'It has effects.' }) },
};

type Options = Parameters<typeof setupMcp>[0];

/** A call that waits for approval, as a task that the official client asks for. */
async function setup(options: Options = {}, capabilities: object = CAPABLE) {
  const world = await setupMcp({ ...ASKING, mcp: { approval_url: true }, ...options });
  const mcp = await world.official(capabilities);
  const request = (method: string, params: object) =>
    mcp.request({ method, params: { ...params } }, z.looseObject({}));
  // Of the official client the part that makes tasks is a package of its own.
  const created = world.sendNewest(
    'tools/call',
    'echo',
    { name: 'echo', arguments: {} },
    capabilities,
  );
  await expect.poll(() => world.calls.watched().length).toBe(1);
  await world.settle();
  world.clock.advance(300);
  const { taskId } = taskSchema.parse((await created).result);
  const get = async () => taskSchema.parse(await request('tasks/get', { taskId }));
  const update = (inputResponses: object) => request('tasks/update', { taskId, inputResponses });
  return { ...world, taskId, get, update };
}

const keysOf = ({ inputRequests = {} }: z.infer<typeof taskSchema>) => Object.keys(inputRequests);

test.each(['accept', 'decline', 'cancel'])(
  '[MP50] [MP51] a client that opens addresses is shown where the approval is decided, and its %s decides nothing',
  async (action) => {
    const { get, update, taskId, calls, client, asked, settle } = await setup();
    const first = await get();
    expect(first.status).toBe('input_required');
    const [key = ''] = keysOf(first);
    expect(first.inputRequests?.[key]?.params.url).toBe(`${BOARD}/#call=${taskId}`);
    expect(keysOf(await get())).toEqual([key]);
    await update({ [key]: { action } });
    await settle();
    expect((await calls.get(taskId))?.phase).toBe('approval');
    expect(client.requests()).toEqual([]);
    expect(await get()).toMatchObject({
      ...{ status: 'working', statusMessage: 'Waiting for approval on the board.' },
    });
    await calls.decide(taskId, operator, { decision: 'yes' });
    client.succeed((await asked())?.id ?? '', 'done');
    await expect.poll(async () => (await get()).status).toBe('completed');
  },
);

test('[MP51] an answer to another question, or to none, changes nothing', async () => {
  const { get, update } = await setup();
  const [key = ''] = keysOf(await get());
  await update({ other: { action: 'accept' } });
  await update({});
  expect(keysOf(await get())).toEqual([key]);
});

test.each<[string, Options, object]>([
  ['where it is not turned on', { mcp: {} }, CAPABLE],
  ['where the board has no public origin', { publicUrl: undefined }, CAPABLE],
  ['that opens no addresses', {}, { extensions: TASKS }],
  ['that shows forms alone', {}, { elicitation: { form: {} }, extensions: TASKS }],
])('[MP50] a client %s is asked nothing', async (_, options, capabilities) => {
  const { get } = await setup(options, capabilities);
  const task = await get();
  expect(task.status).toBe('working');
  expect(task).not.toHaveProperty('inputRequests');
});

test('[MP52] a decision that is asked for again is another question, under another key', async () => {
  const { get, update, taskId, calls, client, connect, settle } = await setup();
  const [first = ''] = keysOf(await get());
  await update({ [first]: { action: 'accept' } });
  client.leave();
  await calls.decide(taskId, operator, { decision: 'yes' });
  await settle();
  expect((await get()).status).toBe('working');
  // What was approved is not what would run.
  connect('phone').offer({ ...ECHO, description: 'Echoes loudly' });
  await expect.poll(async () => (await calls.get(taskId))?.phase).toBe('approval');
  const [second = ''] = keysOf(await get());
  expect(second).not.toBe('');
  expect(second).not.toBe(first);
});
