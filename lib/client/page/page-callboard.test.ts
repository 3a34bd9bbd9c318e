import { expect, test, vi } from 'vitest';
import { createScriptedServer } from '../testing/scripted-server.ts';
import { callTool, until } from '../testing/setup-client.ts';
import type { ConnectOptions } from './page-callboard.ts';
import type { PageTool } from './page-tool.ts';
import { setupPage, TOKEN } from './testing/setup-page.ts';

const parameters = { type: 'object', properties: { text: { type: 'string' } } };
const note = {
  name: 'board.write',
  description: 'Writes a note onto the board',
  parameters,
  execute: ({ text }: { text: string }) => ({ length: text.length }),
};
const { execute: _, ...spec } = note;

/** A page whose tool is being called. */
async function calling(execute: PageTool['execute'], options: ConnectOptions = {}) {
  const rig = await setupPage();
  rig.callboard.tool({ ...note, execute });
  const { link } = await rig.connect(options);
  expect(rig.shown.size).toBe(0);
  await callTool(link, 'tc_1', { name: 'board.write', requested_by: 'run:run_1' });
  return { ...rig, link };
}

test('[PG2] a tool that is offered before there is a connection is registered with the next one', async () => {
  const { callboard, connect } = await setupPage();
  callboard.tool(note);
  const { link, hello } = await connect({ name: 'Shop' });
  expect(hello).toMatchObject({ name: 'Shop', kind: 'tab', caps: ['claim', 'cancel', 'probe'] });
  expect(await link.next('register_tools')).toEqual({ type: 'register_tools', tools: [spec] });
  link.send({ type: 'tools_registered', count: 1, registered: 1, rejected: [] });
  await until(callboard.status, (status) => status === 'registered');
});

test('[PG2] a page without a name is shown by its title, cut to what a name may be', async () => {
  const { connect } = await setupPage();
  expect((await connect()).hello.name).toBe('Notice board');
  expect((await connect({ name: 'x'.repeat(500) })).hello.name).toHaveLength(128);
});

test('[PG3] the function that was returned takes back that very tool, and no later one of its name', async () => {
  const { callboard, connect } = await setupPage();
  const { link } = await connect();
  const first = callboard.tool(note);
  await link.next('register_tools');
  first();
  expect(await link.next('unregister_tools')).toEqual({
    type: 'unregister_tools',
    names: ['board.write'],
  });
  callboard.tool({ ...note, description: 'Writes on another board' });
  await link.next('register_tools');
  const before = (await link.settled()).length;
  first();
  await Promise.resolve();
  // The answer to the probe alone.
  expect((await link.settled()).slice(before)).toHaveLength(1);
});

test('[PG4] what is taken back and offered again within one task is no message', async () => {
  const { callboard, connect } = await setupPage();
  const { link } = await connect();
  const first = callboard.tool(note);
  await link.next('register_tools');
  const before = (await link.settled()).length;
  first();
  const second = callboard.tool({ ...note });
  await Promise.resolve();
  expect((await link.settled()).slice(before)).toHaveLength(1);
  second();
  callboard.tool({ ...note, description: 'Writes on another board' });
  await Promise.resolve();
  const sent = (await link.settled()).slice(before + 1, -1);
  expect(sent.map(({ type }) => type)).toEqual(['register_tools']);
});

test('[PG1] a name that is offered already is refused', async () => {
  const { callboard } = await setupPage();
  callboard.tool(note);
  expect(() => callboard.tool(note)).toThrow(/offers a tool board\.write already/);
});

test.each([
  [{ server: 'board.example' }, /^The server is "board\.example"; it must be the address/],
  [{ server: 'ftp://board.example' }, /^The server is "ftp:/],
  [{ token: '' }, /^The token is none of this server's/],
  [{ token: 'short' }, /^The token is none of this server's: it must be 16 to 256 letters/],
])('[PG5] with %j nothing is connected, and a warning says why', async (wrong, problem) => {
  const { callboard, problems, server, address } = await setupPage();
  callboard.connect({ server: address, token: TOKEN, ...wrong });
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(problems[0]).toMatch(/Nothing is connected\.$/);
  expect([callboard.status.get(), server.connections]).toEqual(['off', 0]);
});

test('[LN50] T32: a page by https is not connected to a server of the network without TLS', async () => {
  const { callboard, problems } = await setupPage();
  callboard.connect({ server: 'http://192.168.1.5:3000', token: TOKEN });
  expect(problems).toEqual([expect.stringMatching(/^insecure_transport: .*Nothing is connected/)]);
  expect(callboard.status.get()).toBe('off');
});

test('[PG6] what execute returns is the output; it is given arguments, caller and signal', async () => {
  const { callboard, connect } = await setupPage();
  const execute = vi.fn((args: { text?: string }) => args.text && { length: args.text.length });
  callboard.tool<{ text?: string }>({ ...note, execute });
  const { link } = await connect();
  const call = { name: 'board.write', requested_by: 'agent:ci' };
  await callTool(link, 'tc_1', { ...call, args: { text: 'Milk' } });
  expect(await link.answer()).toMatchObject({ id: 'tc_1', success: true, output: { length: 4 } });
  expect(execute).toHaveBeenCalledWith(
    { text: 'Milk' },
    expect.objectContaining({
      ...{ callId: 'tc_1', runId: 'run_1', requestedBy: 'agent:ci' },
      signal: expect.any(AbortSignal),
    }),
  );
  await callTool(link, 'tc_2', call);
  expect(await link.answer()).toMatchObject({ id: 'tc_2', success: true, output: null });
});

test('[PG6] what execute throws at once fails the call with its message', async () => {
  const { link, shown } = await calling(() => {
    throw new Error('no chalk');
  });
  expect(await link.answer()).toMatchObject({ success: false, error: 'The tool failed: no chalk' });
  expect(shown).toEqual(new Set());
});

test('[PG7] [BA1] a stop ends the call at once as cancelled, also where the tool does not heed it', async () => {
  const started = Promise.withResolvers<AbortSignal>();
  const { link, shown, address } = await calling((_args, { signal }) => {
    started.resolve(signal);
    return new Promise(() => {});
  });
  const signal = await started.promise;
  const [call] = shown;
  expect(call).toMatchObject({
    ...{ tool: 'board.write', caller: 'run:run_1', server: new URL(address).host },
  });
  call?.stop();
  expect(await link.answer()).toEqual({
    ...{ type: 'tool_error', id: 'tc_1', attempt: 1, success: false, code: 'cancelled' },
    error: 'The person at this page stopped it.',
  });
  expect([signal.aborted, shown.size]).toEqual([true, 0]);
});

test('[PG7] a cancel by the server reaches the tool as well', async () => {
  const { link } = await calling(
    (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  link.send({ type: 'tool_call_cancel', id: 'tc_1', reason: 'no longer needed' });
  expect(await link.answer()).toMatchObject({ code: 'cancelled', error: 'no longer needed' });
});

test('[BA1] a page that shows by itself what runs has no badge', async () => {
  const started = Promise.withResolvers<void>();
  const endless = () => {
    started.resolve();
    return new Promise(() => {});
  };
  const { shown } = await calling(endless, { badge: false });
  await started.promise;
  expect(shown.size).toBe(0);
});

test('[PG8] before a page connects anew its earlier connection has ended', async () => {
  const { callboard, connect, server } = await setupPage();
  callboard.tool(note);
  const { link } = await connect();
  await link.next('register_tools');
  callboard.connect({ name: 'Other shop' });
  await link.closed;
  const next = await server.accept();
  expect((await next.welcome()).name).toBe('Other shop');
  expect(await next.next('register_tools')).toMatchObject({ tools: [{ name: 'board.write' }] });
  await callboard.disconnect();
  await next.closed;
  expect(callboard.status.get()).toBe('off');
});

test('[PG10] where no socket can be opened a warning says so once, until there was a connection', async () => {
  const { callboard, problems, probes, line, server, address } = await setupPage();
  const closed = await createScriptedServer();
  await closed.close();
  line.cutTo = closed.url;
  callboard.connect({ server: address, token: TOKEN });
  await expect.poll(() => probes.asked).toBeGreaterThan(2);
  expect(problems).toEqual([
    expect.stringMatching(
      /responds, and refuses this page\. Either https:\/\/shop\.example is not among allowed_origins .* or the token is not valid/,
    ),
  ]);
  probes.isReachable = false;
  await expect.poll(() => problems).toHaveLength(2);
  expect(problems[1]).toMatch(/does not respond\. The page goes on trying/);

  delete line.cutTo;
  const link = await server.accept();
  await link.welcome();
  await until(callboard.status, (status) => status === 'registered');
  line.cutTo = closed.url;
  link.cut();
  await expect.poll(() => problems).toHaveLength(3);
  expect(problems[2]).toBe(problems[1]);
});

test('[PG15] tools of WebMCP are offered only where the page asks for it, and taken back when it ends that', async () => {
  const { callboard, connect, webMcp } = await setupPage();
  const { link } = await connect();
  expect(await link.settled()).not.toContainEqual(expect.objectContaining({ tools: [] }));
  const { link: second } = await connect({ webMcp: true });
  expect(await second.next('register_tools')).toMatchObject({
    tools: [{ name: 'shop.example.buy' }],
  });
  callboard.connect({ webMcp: false });
  expect(webMcp.ended).toBe(1);
});

test('[PG15] a browser without WebMCP is a warning, and the page goes on', async () => {
  const { connect, webMcp, problems } = await setupPage();
  webMcp.isThere = false;
  await connect({ webMcp: true });
  expect(problems).toEqual([expect.stringMatching(/^this browser has no WebMCP/)]);
});
