import { expect, test } from 'vitest';
import { callTool, createHeldTool, setupClient, until } from './testing/setup-client.ts';

type Setup = Awaited<ReturnType<typeof setupClient>>;

const TEN_MINUTES = 10 * 60_000;

const setup = async (tool = createHeldTool()) => ({
  ...(await setupClient({ tools: [tool.definition] }, 'choice')),
  tool,
});

/** Waits for the next failure and for what the client asks the server then, and makes the next attempt. */
async function passFailure({ client, clock, checks }: Setup, asked: number): Promise<void> {
  const status = await until(client.status, ({ state }) => state === 'reconnecting');
  await expect.poll(checks).toBe(asked);
  if (status.state === 'reconnecting') clock.advance(status.retryAt - clock.now());
}

/** Up to a connection over a stream, sockets being refused. */
async function connectByStream(rig: Setup) {
  rig.server.takeSockets(false);
  await rig.client.start();
  await passFailure(rig, 1);
  await passFailure(rig, 2);
  const link = await rig.server.accept();
  await link.welcome();
  await until(rig.client.status, ({ state }) => state === 'connected');
  return link;
}

const transportOf = ({ client }: Setup) => {
  const status = client.status.get();
  return status.state === 'connected' ? status.transport : status.state;
};

test('[CL60] where sockets open the status names the socket', async () => {
  const rig = await setup();
  await rig.connect();
  expect([transportOf(rig), rig.checks()]).toEqual(['socket', 0]);
});

test('[CL60] where no socket opens, though the server responds, a call runs over a stream', async () => {
  const rig = await setup();
  const link = await connectByStream(rig);
  expect(transportOf(rig)).toBe('stream');
  await callTool(link, 'tc_1');
  rig.tool.end('tc_1', 'done');
  expect(await link.next('tool_result')).toMatchObject({ id: 'tc_1', output: 'done' });
});

test('[CL60] sockets that open and get no welcome in time lead to a stream as well', async () => {
  const rig = await setup();
  await rig.client.start();
  for (const asked of [1, 2]) {
    await (await rig.server.accept()).next('hello');
    rig.clock.advance(5_000);
    await passFailure(rig, asked);
  }
  await (await rig.server.accept()).welcome();
  await until(rig.client.status, ({ state }) => state === 'connected');
  expect(transportOf(rig)).toBe('stream');
});

test('[CL60] a server that is away is no reason for a stream', async () => {
  const rig = await setup();
  const { link } = await rig.connect();
  rig.server.takeSockets(false);
  link.cut();
  await passFailure(rig, 0);
  // One failure while the server responds, and then one while it does not.
  await passFailure(rig, 1);
  await rig.server.close();
  for (const asked of [2, 3, 4]) await passFailure(rig, asked);
  expect(transportOf(rig)).not.toBe('connected');
  expect(rig.server.connections).toBe(1);
});

test('[CL61] a stream that had a welcome stays the way, over a break and while the server is away', async () => {
  const rig = await setup();
  const link = await connectByStream(rig);
  rig.server.takeSockets(true);
  link.cut();
  await passFailure(rig, 2);
  const away = await rig.server.accept();
  await away.next('hello');
  away.cut();
  await passFailure(rig, 2);
  await (await rig.server.accept()).welcome();
  await until(rig.client.status, ({ state }) => state === 'connected');
  expect([transportOf(rig), rig.checks()]).toEqual(['stream', 2]);
});

test('[CL61] a stream without a welcome is followed by a socket', async () => {
  const rig = await setup();
  rig.server.takeSockets(false);
  await rig.client.start();
  await passFailure(rig, 1);
  await passFailure(rig, 2);
  const stream = await rig.server.accept();
  await stream.next('hello');
  rig.server.takeSockets(true);
  stream.cut();
  await passFailure(rig, 2);
  await (await rig.server.accept()).welcome();
  await until(rig.client.status, ({ state }) => state === 'connected');
  expect(transportOf(rig)).toBe('socket');
});

test.each([
  ['socket', true],
  ['stream', false],
])(
  '[CL62] ten minutes later a new connection tries a socket, once: then it is over a %s',
  async (transport, opens) => {
    const rig = await setup();
    const link = await connectByStream(rig);
    rig.server.takeSockets(opens);
    rig.clock.advance(TEN_MINUTES);
    link.cut();
    await passFailure(rig, 2);
    if (!opens) await passFailure(rig, 3);
    await (await rig.server.accept()).welcome();
    await until(rig.client.status, ({ state }) => state === 'connected');
    expect(transportOf(rig)).toBe(transport);
  },
);
