import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type SetupOptions, setupCalls } from '../calls/testing/setup-calls.ts';
import { type Answer, startOtlpReceiver } from './testing/otlp-receiver.ts';
import { createTracing } from './tracing.ts';

const ECHO = { name: 'echo', description: 'Echoes', parameters: { type: 'object' } };
const SPANS_OF_A_CALL = 5;

/** A data directory and a receiver, which outlive the servers of a test. */
async function newWorld(answerTo?: () => Answer) {
  const dir = mkdtempSync(join(tmpdir(), 'resume-'));
  const receiver = await startOtlpReceiver(answerTo);
  onTestFinished(async () => {
    await receiver.close();
    rmSync(dir, { recursive: true });
  });
  return { dir, receiver, file: join(dir, 'traces-mark.json') };
}

type World = Awaited<ReturnType<typeof newWorld>>;

/** A server of that directory; `isOn`: whether it exports. */
async function serve({ dir, receiver, file }: World, { isOn = true, after = 0 } = {}) {
  let observe: NonNullable<SetupOptions['onDurable']> = () => {};
  const world = await setupCalls({
    ...{ dir, isTracing: isOn, onDurable: (...states) => observe(...states) },
  });
  world.clock.advance(after);
  const { clock, logger, store } = world;
  const url = `${receiver.endpoint}/v1/traces`;
  const tracing = createTracing({
    config: isOn ? { url, headers: {}, resource: {}, secrets: [] } : undefined,
    ...{ version: '1', clock, logger, hide: (text) => text },
    durable: {
      file,
      ended: { endedSince: store.history.endedSince, read: (id) => store.getCall(id) },
    },
  });
  await tracing.resume();
  observe = tracing.observe;
  const phone = world.connect('phone');
  phone.offer(ECHO);
  async function call() {
    const { id } = await world.invoke('echo');
    await expect.poll(() => phone.requests().some((request) => request.id === id)).toBe(true);
    await phone.succeed(id, 'done');
    await world.settle();
    return id;
  }
  /** What the process had in memory is gone with it. */
  const kill = () => world.close(true);
  async function stop() {
    await tracing.endResume();
    await world.close(true);
    await tracing.close(60_000);
  }
  return { ...world, call, kill, stop };
}

const callsIn = ({ receiver }: World): unknown[] =>
  receiver
    .named('execute_tool echo')
    .map(({ attributes }) => attributes['gen_ai.tool.call.id'])
    .sort();

const fileOf = ({ file }: World): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

test('[TM34] spans of calls that ended and were not sent when the server was killed are sent by the next one, and no other', async () => {
  const world = await newWorld();
  const first = await serve(world);
  const sent = await first.call();
  first.clock.advance(5_000);
  await expect.poll(() => fileOf(world)).toContain(sent);
  const cut = [await first.call(), await first.call()];
  await first.kill();
  expect(callsIn(world)).toEqual([sent]);
  const second = await serve(world, { after: 60_000 });
  const received = () => {
    second.clock.advance(5_000);
    return callsIn(world);
  };
  await expect.poll(received).toEqual([sent, ...cut].sort());
  await second.stop();
  const third = await serve(world, { after: 120_000 });
  await third.stop();
  expect(callsIn(world)).toHaveLength(3);
  expect(world.receiver.problems).toEqual([]);
});

test('[TM35] what the receiver took before the mark was written comes again under the same ids', async () => {
  const world = await newWorld();
  const first = await serve(world);
  const mark = fileOf(world);
  await first.call();
  first.clock.advance(5_000);
  await expect.poll(() => world.receiver.spans.length).toBe(SPANS_OF_A_CALL);
  await first.kill();
  writeFileSync(world.file, mark);
  const second = await serve(world);
  const received = () => {
    second.clock.advance(5_000);
    return callsIn(world).length;
  };
  await expect.poll(received).toBe(2);
  await second.stop();
  const [one, again] = world.receiver.named('execute_tool echo');
  expect(again).toEqual(one);
  expect(world.receiver.named('acknowledge')).toHaveLength(1);
});

test('[TM35] what the receiver refused is not sent again, and the mark moves on', async () => {
  let status = 400;
  const world = await newWorld(() => ({ status }));
  const first = await serve(world);
  const id = await first.call();
  first.clock.advance(5_000);
  await expect.poll(() => fileOf(world)).toContain(id);
  await first.kill();
  status = 200;
  const second = await serve(world);
  await second.stop();
  expect(callsIn(world)).toEqual([]);
});

test('[TM34] a call whose last spans were not sent is sent again as a whole, and no other', async () => {
  let [answers, status] = [0, 503];
  // The first request has 512 spans.
  const world = await newWorld(() => ({ status: answers++ === 0 ? 200 : status }));
  const first = await serve(world);
  const ids: string[] = [];
  while (ids.length * SPANS_OF_A_CALL < 512) ids.push(await first.call());
  first.clock.advance(5_000);
  await expect.poll(() => answers).toBe(2);
  await first.kill();
  const sent = callsIn(world);
  expect(new Set(sent)).toEqual(new Set(ids));
  status = 200;
  const second = await serve(world);
  await second.stop();
  expect(callsIn(world).slice(sent.length)).toEqual(ids.slice(-1));
});

test('[TM36] what a stop could not send the next start sends', async () => {
  let status = 503;
  const world = await newWorld(() => ({ status }));
  const first = await serve(world);
  const id = await first.call();
  await first.stop();
  expect(callsIn(world)).toEqual([]);
  status = 200;
  const second = await serve(world);
  await second.stop();
  expect(callsIn(world)).toEqual([id]);
});

test('[TM34] what ended more than an hour ago is not sent again', async () => {
  const world = await newWorld();
  const first = await serve(world);
  await first.call();
  await first.kill();
  const second = await serve(world, { after: 3_700_000 });
  await second.stop();
  expect(callsIn(world)).toEqual([]);
});

test('[TM37] calls of a time without export are never sent, nor those of before the first start with it', async () => {
  const world = await newWorld();
  const first = await serve(world);
  await first.kill();
  expect(fileOf(world)).not.toBe('');
  const off = await serve(world, { isOn: false });
  await off.call();
  await off.stop();
  expect(fileOf(world)).toBe('');
  const second = await serve(world, { after: 20_000 });
  const id = await second.call();
  await second.stop();
  expect(callsIn(world)).toEqual([id]);
});

test('[TM37] a file that cannot be read is as none', async () => {
  const world = await newWorld();
  const first = await serve(world);
  await first.call();
  await first.kill();
  writeFileSync(world.file, '{"before":');
  const second = await serve(world);
  const id = await second.call();
  await second.stop();
  expect(callsIn(world)).toEqual([id]);
});

test.each([true, false])(
  '[TM37] a file that the disk does not give stops no start, with export %s',
  async (isOn) => {
    const world = await newWorld();
    mkdirSync(world.file);
    const first = await serve(world, { isOn });
    const id = await first.call();
    await first.stop();
    expect(callsIn(world)).toEqual(isOn ? [id] : []);
    expect(first.errors.map((error) => error instanceof Error && error.message)).toContainEqual(
      expect.stringContaining('traces-mark.json'),
    );
  },
);
