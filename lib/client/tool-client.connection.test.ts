import { describe, expect, test } from 'vitest';
import { setupClient, TRANSPORTS, until } from './testing/setup-client.ts';
import type { ToolClientOptions } from './tool-client.ts';

const state = (wanted: string) => (status: { state: string }) => status.state === wanted;

describe.each(TRANSPORTS)('over a %s', (way) => {
  const setup = (options: Partial<ToolClientOptions> = {}) => setupClient(options, way);

  test('it says hello, is welcomed, and keeps its id', async () => {
    const { connect, client } = await setup();
    const { hello } = await connect();
    expect(hello).toEqual({
      type: 'hello',
      name: 'test tab',
      kind: 'tab',
      instance_id: 'id-1',
      journal_epoch: 'epoch of id-1',
      known: [],
      caps: ['claim', 'cancel', 'probe'],
    });
    expect(client.clientId.get()).toBe('client-1');
  });

  test('[CL5] after a drop it comes back with its resume token', async () => {
    const { connect, client, clock, server } = await setup();
    const { link } = await connect();
    link.cut();
    const status = await until(client.status, state('reconnecting'));
    expect(status).toEqual({ state: 'reconnecting', attempt: 1, retryAt: clock.now() + 500 });
    clock.advance(500);
    const hello = await (await server.accept()).welcome();
    expect(hello).toMatchObject({
      client_id: 'client-1',
      resume_token: 'token-1',
      instance_id: 'id-1',
    });
  });

  test('[CL1] waits grow while it fails, and start again after ten good seconds', async () => {
    const { connect, client, clock, server } = await setup();
    const waits: number[] = [];
    let { link } = await connect();
    for (const lasted of [0, 0, 9_999, 10_000]) {
      clock.advance(lasted);
      link.cut();
      const status = await until(client.status, state('reconnecting'));
      if (status.state !== 'reconnecting') throw new Error(status.state);
      waits.push(status.retryAt - clock.now());
      clock.advance(status.retryAt - clock.now());
      link = await server.accept();
      await link.welcome();
      await until(client.status, state('connected'));
    }
    expect(waits).toEqual([500, 1_000, 2_000, 500]);
  });

  test('[CL3] without a welcome in five seconds the attempt is given up', async () => {
    const { client, clock, server } = await setup();
    await client.start();
    const link = await server.accept();
    await link.next('hello');
    clock.advance(4_999);
    expect(client.status.get().state).toBe('connecting');
    clock.advance(1);
    expect(client.status.get().state).toBe('reconnecting');
    await link.closed;
  });

  test('[CL2] what comes late of an earlier socket is ignored', async () => {
    const { client, clock, server } = await setup();
    await client.start();
    const first = await server.accept();
    await first.next('hello');
    clock.advance(5_000);
    clock.advance(500);
    const second = await server.accept();
    await second.welcome();
    await until(client.status, state('connected'));
    first.send({
      type: 'tool_call_request',
      id: 'tc_1',
      name: 'x',
      args: {},
      run_id: 'r',
      attempt: 1,
      timeout_ms: 1,
    });
    await first.closed;
    expect(await second.settled()).not.toContainEqual(
      expect.objectContaining({ type: 'tool_call_claim' }),
    );
    expect(client.status.get().state).toBe('connected');
    expect(server.connections).toBe(2);
  });

  test('[CL4] a wake-up connects at once when a retry is planned', async () => {
    const { connect, client, server, wake } = await setup();
    const { link } = await connect();
    link.cut();
    await until(client.status, state('reconnecting'));
    wake();
    await (await server.accept()).welcome();
    await until(client.status, state('connected'));
  });

  test('[CL31] a page that is put away closes its socket, and is back at once when it wakes', async () => {
    const { connect, client, server, putAway, wake } = await setup();
    const { link } = await connect();
    putAway();
    expect(client.status.get().state).toBe('reconnecting');
    await link.closed;
    wake();
    expect(await (await server.accept()).welcome()).toMatchObject({ resume_token: 'token-1' });
  });

  test('[CL4] on an open socket a wake-up asks, and an answer keeps it', async () => {
    const { connect, client, clock, wake } = await setup();
    const { link } = await connect();
    wake();
    wake();
    const { nonce } = await link.next('probe');
    link.send({ type: 'probe_ack', nonce });
    const sent = await link.settled();
    clock.advance(2_000);
    expect(client.status.get().state).toBe('connected');
    expect(sent.filter(({ type }) => type === 'probe')).toHaveLength(1);
  });

  test('[CL4] a socket without an answer in two seconds is given up', async () => {
    const { connect, client, clock, wake } = await setup();
    const { link } = await connect();
    wake();
    const { nonce } = await link.next('probe');
    link.send({ type: 'probe_ack', nonce: `not ${nonce}` });
    await link.settled();
    clock.advance(2_000);
    expect(client.status.get().state).toBe('reconnecting');
  });

  test('[CL4] a socket that was silent for two heartbeats is asked too', async () => {
    const { client, clock, server } = await setup();
    await client.start();
    const link = await server.accept();
    await link.welcome({ heartbeat_ms: 10_000 });
    await until(client.status, state('connected'));
    clock.advance(15_000);
    await link.settled();
    clock.advance(15_000);
    expect((await link.settled()).some(({ type }) => type === 'probe')).toBe(false);
    clock.advance(22_000);
    expect(client.status.get().state).toBe('reconnecting');
  });

  test.each([4401, 4403])('[CL5] after %i it does not try again', async (code) => {
    const { connect, client, clock, server, wake } = await setup();
    const { link } = await connect();
    link.close(code, 'sign in');
    const status = await until(client.status, state('refused'));
    expect(status).toEqual({ state: 'refused', code, reason: 'sign in' });
    clock.advance(100_000);
    wake();
    expect(client.status.get().state).toBe('refused');
    expect(server.connections).toBe(1);
  });

  test.each([1000, 1008, 1012, 4013])('[CL5] after %i it tries again', async (code) => {
    const { connect, reconnect } = await setup();
    const { link } = await connect();
    await reconnect({ cut: () => link.close(code) });
  });

  test('[CL5] a credential that HTTP refuses stops it, a server that is away does not', async () => {
    const answers = [false, true];
    const { client, clock, server } = await setup({
      isRefused: async () => answers.shift() ?? false,
    });
    await server.close();
    await client.start();
    await until(client.status, state('reconnecting'));
    clock.advance(500);
    expect(await until(client.status, state('refused'))).toMatchObject({ code: 4401 });
  });

  test('[CL12] a probe is answered with its nonce', async () => {
    const { link } = await (await setup()).connect();
    link.send({ type: 'probe', nonce: 'n-1' });
    expect(await link.next('probe_ack')).toEqual({ type: 'probe_ack', nonce: 'n-1' });
  });

  test('[CL14] frames that are no message we know change nothing', async () => {
    const { connect, client, problems } = await setup();
    const { link } = await connect();
    const before = (await link.settled()).length;
    for (const frame of [
      '',
      'no json',
      '[1]',
      'null',
      '{"type":"from_the_future"}',
      '{"type":"welcome"}',
    ]) {
      link.send(frame);
    }
    expect((await link.settled()).slice(before).map(({ type }) => type)).toEqual(['probe_ack']);
    expect({ state: client.status.get().state, problems }).toEqual({
      state: 'connected',
      problems: [],
    });
  });

  test('[CL15] told that another page has its instance, it comes back as a new one', async () => {
    const { connect, client, clock, server } = await setup();
    const { link } = await connect();
    link.close(4010);
    await link.closed;
    await until(client.status, state('reconnecting'));
    // The old one's end and the new one's journal take a few turns; a planned retry ends them.
    const accepting = server.accept();
    const stop = setInterval(() => clock.advance(1_000), 1);
    const hello = await (await accepting).welcome();
    clearInterval(stop);
    expect(hello).toMatchObject({
      client_id: 'client-1',
      journal_epoch: `epoch of ${hello.instance_id}`,
    });
    expect(hello.instance_id).not.toBe('id-1');
  });

  test('it can be stopped and started again', async () => {
    const { connect, client, server } = await setup();
    const { link } = await connect();
    await client.stop();
    await link.closed;
    expect(client.status.get()).toEqual({ state: 'stopped' });
    await Promise.all([client.start(), client.stop(), client.start()]);
    // The one in the middle may come, or not: it never sends a hello.
    const welcomeAll = async () => {
      for (;;) void (await server.accept()).welcome();
    };
    void welcomeAll();
    await until(client.status, state('connected'));
  });

  test('an address that is none is told, and tried again', async () => {
    const { client, problems } = await setup({ url: 'no address' });
    await client.start();
    expect(client.status.get().state).toBe('reconnecting');
    expect(problems).toEqual([expect.stringContaining('cannot connect to no address')]);
  });
});
