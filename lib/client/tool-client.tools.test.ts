import { expect, test } from 'vitest';
import { createHeldTool, setupClient, until } from './testing/setup-client.ts';
import type { ToolClientOptions } from './tool-client.ts';

const door = createHeldTool().definition;
const window = { ...door, name: 'window.open', timeoutMs: 5_000, displayName: 'Window' };

test('[CL20] its tools are registered after the welcome', async () => {
  const { link } = await (
    await setupClient({ tools: [door, { ...window, annotations: { readOnlyHint: true } }] })
  ).connect();
  expect(await link.next('register_tools')).toEqual({
    type: 'register_tools',
    tools: [
      { name: 'door.open', description: door.description, parameters: door.parameters },
      {
        name: 'window.open',
        description: door.description,
        parameters: door.parameters,
        timeout_ms: 5_000,
        display_name: 'Window',
        annotations: { readOnlyHint: true },
      },
    ],
  });
});

test('[CL20] later only what changed is told', async () => {
  const { connect, client } = await setupClient({ tools: [door] });
  const { link } = await connect();
  const before = (await link.settled()).length;
  client.register({ ...door });
  client.register(window);
  client.register({ ...door, description: 'Opens the other door.' });
  client.unregister('window.open');
  client.unregister('never.there');
  const sent = (await link.settled()).slice(before, -1);
  expect(sent).toEqual([
    { type: 'register_tools', tools: [expect.objectContaining({ name: 'window.open' })] },
    {
      type: 'register_tools',
      tools: [expect.objectContaining({ description: 'Opens the other door.' })],
    },
    { type: 'unregister_tools', names: ['window.open'] },
  ]);
});

test('[CL20] all are told again after a new connection, with the state', async () => {
  const { connect, client, reconnect } = await setupClient({ tools: [door] });
  const { link } = await connect();
  client.reportState({ visibility: 'hidden' });
  await link.next('client_state');
  const { back } = await reconnect(link, {}, () => {
    client.unregister('door.open');
    client.register(window);
  });
  const sent = (await back.settled()).slice(1, -1);
  expect(sent).toEqual([
    { type: 'register_tools', tools: [expect.objectContaining({ name: 'window.open' })] },
    { type: 'client_state', visibility: 'hidden' },
  ]);
});

test('[CL38] it is registered once the server has replied to all of its tools, on each connection', async () => {
  const { connect, client, clock, server } = await setupClient({ tools: [door] });
  const { link } = await connect();
  await link.next('register_tools');
  client.register(window);
  await link.next('register_tools');
  const reply = { type: 'tools_registered', count: 1, registered: 1, rejected: [] };
  const seen = [client.registered.get()];
  for (let replies = 0; replies < 2; replies += 1) {
    link.send(reply);
    await link.settled();
    seen.push(client.registered.get());
  }
  expect(seen).toEqual([false, false, true]);
  link.cut();
  await until(client.registered, (is) => !is);
  clock.advance(500);
  const back = await server.accept();
  await back.welcome();
  await back.next('register_tools');
  expect(client.registered.get()).toBe(false);
  back.send(reply);
  await until(client.registered, (is) => is);
});

test('[CL38] it is registered without tools, and with tools that are refused or cannot be read', async () => {
  const { connect, client } = await setupClient({ tools: [] });
  const { link } = await connect();
  expect(client.registered.get()).toBe(true);
  client.register(door);
  expect(client.registered.get()).toBe(false);
  const rejected = [{ name: 'door.open', code: 'reserved', message: 'taken by the server' }];
  link.send({ type: 'tools_registered', count: 0, registered: 0, rejected });
  await until(client.registered, (is) => is);
  client.register(window);
  link.send({ type: 'error', code: 'bad_message', message: 'no such hint' });
  await until(client.registered, (is) => is);
});

test('[CL67] a decision of a person is reported, and is no reply to what was offered', async () => {
  const reported: [string[], readonly string[]][] = [];
  const { connect, client } = await setupClient({
    tools: [door],
    onRejectedTools: (rejected, decided) =>
      void reported.push([rejected.map(({ name }) => name), decided]),
  });
  const { link } = await connect();
  await link.next('register_tools');
  const rejected = [{ name: 'window.open', code: 'not_allowed', message: 'no' }];
  const decided = ['door.open', 'window.open'];
  link.send({ type: 'tools_registered', count: 2, registered: 1, rejected, decided });
  await link.settled();
  expect([client.registered.get(), reported]).toEqual([false, [[['window.open'], decided]]]);
  link.send({ type: 'tools_registered', count: 1, registered: 1, rejected: [] });
  await until(client.registered, (is) => is);
  link.send({ type: 'tools_registered', count: 1, registered: 1, rejected: [], decided: ['a'] });
  await link.settled();
  expect(reported.at(-1)).toEqual([[], ['a']]);
});

test('[CL37] touches are reported with their age, at most once a second, and the last one always', async () => {
  const { connect, client, clock } = await setupClient({ tools: [] });
  const { link } = await connect();
  const reported = async () =>
    (await link.settled()).flatMap((sent) =>
      sent.type === 'client_state' && sent.touched ? [sent.touched_ago_ms] : [],
    );
  client.reportTouch();
  clock.advance(200);
  for (let time = 0; time < 2; time += 1) client.reportTouch();
  const ages = [await reported()];
  for (const ms of [799, 1, 5_000]) {
    clock.advance(ms);
    ages.push(await reported());
  }
  expect(ages).toEqual([[0], [0], [0, 800], [0, 800]]);
});

test('[CL37] a touch without a connection is reported with the next one, and only once', async () => {
  const { connect, client, clock, reconnect } = await setupClient({ tools: [] });
  const { link } = await connect();
  client.reportState({ visibility: 'visible' });
  const { back } = await reconnect(link, {}, () => {
    client.reportTouch();
    clock.advance(1_000);
  });
  const states = (await back.settled()).filter(({ type }) => type === 'client_state');
  expect(states).toEqual([
    { type: 'client_state', visibility: 'visible' },
    { type: 'client_state', touched: true, touched_ago_ms: 1_500 },
  ]);
});

test('[CL40] tools that the server rejects are reported; without a listener they are problems, as all that it objects to', async () => {
  const refused: string[] = [];
  const onRejectedTools: ToolClientOptions['onRejectedTools'] = (tools) =>
    void refused.push(...tools.map(({ message }) => message));
  const rejected = [{ name: 'door.open', code: 'reserved', message: 'taken by the server' }];
  const problems: string[][] = [];
  for (const more of [{ onRejectedTools }, {}]) {
    const rig = await setupClient({ tools: [door], ...more });
    const { link } = await rig.connect();
    link.send({ type: 'tools_registered', count: 1, registered: 0, rejected });
    link.send({ type: 'error', code: 'bad_message', message: 'no such type' });
    await link.settled();
    problems.push(rig.problems);
  }
  expect(refused).toEqual(['taken by the server']);
  const objection = 'the server reports bad_message: no such type';
  expect(problems).toEqual([
    [objection],
    ['the server refused the tool "door.open": taken by the server', objection],
  ]);
});
