import { expect, test, vi } from 'vitest';
import { createManualClock, type ManualClock } from '#lib/client/testing/manual-clock';
import { FixtureTasks } from './testing/fixture-server.ts';
import { newDir, setupServers, startHttpFixture } from './testing/setup-servers.ts';

const WAIT = { timeout: 10_000, interval: 20 };
const DONE = {
  status: 'completed',
  result: { resultType: 'complete', content: [{ type: 'text', text: 'worked' }] },
};

/** A server over HTTP that answers `jobs.work` with tasks; `open` makes a Callboard on what was there before. */
async function setupTasks(settings: object = {}) {
  const tasks = new FixtureTasks();
  const fixture = await startHttpFixture({ tasks });
  const [dir, callsDir] = [newDir(), newDir()];
  const open = (clock?: ManualClock) =>
    setupServers({
      ...(clock && { clock }),
      servers: { jobs: { url: fixture.url, ...settings } },
      ...{ dir, calls: { dir: callsDir } },
    });
  type World = Awaited<ReturnType<typeof open>>;
  async function call(world: World) {
    await world.until('jobs', { state: 'connected' });
    const { id } = await world.calls.invoke('jobs.work');
    await vi.waitFor(() => expect(tasks.polled.length).toBeGreaterThan(0), WAIT);
    return id;
  }
  return { tasks, fixture, open, call };
}

test('[MC53] a call that is answered with a task ends with the result of the task', async () => {
  const { tasks, open, call } = await setupTasks();
  const world = await open();
  const id = await call(world);
  await vi.waitFor(() => expect(world.calls.cardOf(id)).toMatchObject({ tip: 'Reading' }), WAIT);
  expect(await world.calls.call(id)).toMatchObject({ status: 'RUNNING', phase: 'granted' });
  tasks.states.set('task-1', DONE);
  expect(await world.ended(id)).toMatchObject({ status: 'SUCCEEDED', result: 'worked' });
  expect(tasks.cancelled).toEqual([]);
}, 30_000);

test.each([
  [{ status: 'failed', error: { code: -1, message: 'no disk' } }, 'tool_error', /no disk/, []],
  [{ status: 'cancelled' }, 'tool_error', /cancelled its task/, []],
  [{ status: 'input_required', inputRequests: {} }, 'tool_error', /asks for input/, ['task-1']],
  [undefined, 'outcome_unknown', /does not answer for the task.*not found/, []],
] as const)(
  '[MC54] a task that comes to %j ends its call with the reason',
  async (...row) => {
    const [state, code, message, cancelled] = row;
    const { tasks, open, call } = await setupTasks();
    const world = await open();
    const id = await call(world);
    if (state) tasks.states.set('task-1', state);
    else tasks.states.clear();
    const { error } = await world.ended(id);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    await vi.waitFor(() => expect(tasks.cancelled).toEqual(cancelled), WAIT);
  },
  30_000,
);

test('[MC55] a cancel of the call cancels the task', async () => {
  const { tasks, open, call } = await setupTasks();
  const world = await open();
  const id = await call(world);
  await world.calls.calls.cancel(id, 'No need', 'operator');
  expect((await world.ended(id)).error).toMatchObject({ code: 'cancelled', executed: 'unknown' });
  await vi.waitFor(() => expect(tasks.cancelled).toEqual(['task-1']), WAIT);
}, 30_000);

test('[MC55] a task that could not be cancelled is cancelled by the next start', async () => {
  const { tasks, fixture, open, call } = await setupTasks();
  const world = await open();
  const id = await call(world);
  await fixture.stop();
  await world.calls.calls.cancel(id, 'No need', 'operator');
  await world.ended(id);
  await world.close();
  await fixture.listenAgain();
  expect(tasks.cancelled).toEqual([]);
  await open();
  await vi.waitFor(() => expect(tasks.cancelled).toEqual(['task-1']), WAIT);
}, 40_000);

test('[MC75] a task that its server never cancels is asked to end ten times, and forgotten', async () => {
  const { tasks, open } = await setupTasks();
  tasks.isStubborn = true;
  const clock = createManualClock();
  const world = await open(clock);
  await world.until('jobs', { state: 'connected' });
  const { id } = await world.calls.invoke('jobs.work');
  await vi.waitFor(async () => expect(await world.kept.listKept('mcp_task')).toHaveLength(1), WAIT);
  await world.calls.calls.cancel(id, 'No need', 'operator');
  await world.ended(id);
  await vi.waitFor(async () => {
    clock.advance(30_000);
    expect(await world.kept.listKept('mcp_task')).toEqual([]);
  }, WAIT);
  expect(tasks.cancelled).toHaveLength(10);
}, 30_000);

test('[MC75] of a server that is away at most 1,000 tasks wait to be cancelled', async () => {
  const { tasks, fixture, open } = await setupTasks();
  const world = await open();
  await world.kept.write(
    Array.from({ length: 1_001 }, (_, at) => {
      const value = { call: `tc_${at}`, server: 'jobs', foreign: 'work', task_id: `task-${at}` };
      const entry = { area: 'mcp_task', key: value.call, value, putAt: 1 } as const;
      return { type: 'put_kept', entry } as const;
    }),
  );
  await world.close();
  await fixture.stop();
  const again = await open();
  await vi.waitFor(
    async () => expect(await again.kept.listKept('mcp_task')).toHaveLength(1_000),
    WAIT,
  );
  expect(tasks.cancelled).toEqual([]);
}, 30_000);

test('[MC56] after a restart the task is asked for on, and the tool is not called again', async () => {
  const { tasks, fixture, open, call } = await setupTasks();
  const world = await open();
  const id = await call(world);
  await world.close();
  expect(tasks.cancelled).toEqual([]);
  await fixture.stop();
  const again = await open();
  // The server is away at first.
  await again.until('jobs', { state: 'failed' });
  expect(await again.calls.call(id)).toMatchObject({ status: 'RUNNING', phase: 'granted' });
  await fixture.listenAgain();
  const polled = tasks.polled.length;
  await vi.waitFor(() => expect(tasks.polled.length).toBeGreaterThan(polled), WAIT);
  tasks.states.set('task-1', DONE);
  expect(await again.ended(id)).toMatchObject({ status: 'SUCCEEDED', result: 'worked' });
  expect(tasks.called).toEqual(['work']);
  // Its end is on disk, and so the task is forgotten.
  await vi.waitFor(async () => expect(await again.kept.listKept('mcp_task')).toEqual([]), WAIT);
}, 40_000);

test('[MC57] a connection that is lost while a task runs ends nothing', async () => {
  const { tasks, fixture, open, call } = await setupTasks();
  const world = await open();
  const id = await call(world);
  await fixture.stop();
  const polled = tasks.polled.length;
  await world.until('jobs', { last_error: { message: expect.stringContaining('ECONNREFUSED') } });
  await fixture.listenAgain();
  await vi.waitFor(() => expect(tasks.polled.length).toBeGreaterThan(polled), WAIT);
  tasks.states.set('task-1', DONE);
  expect(await world.ended(id)).toMatchObject({ status: 'SUCCEEDED', result: 'worked' });
}, 30_000);
