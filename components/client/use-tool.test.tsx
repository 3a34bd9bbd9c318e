// @vitest-environment happy-dom
import { render } from '@testing-library/react';
import { StrictMode } from 'react';
import { expect, test, vi } from 'vitest';
import type { Callboard } from '#lib/client/page/page-callboard';
import type { PageTool } from '#lib/client/page/page-tool';
import { setupPage } from '#lib/client/page/testing/setup-page';
import { callTool } from '#lib/client/testing/setup-client';
import { useTool } from './use-tool.ts';

type Client = Pick<Callboard, 'tool'>;

const note = {
  name: 'board.write',
  description: 'Writes a note onto the board',
  parameters: { type: 'object', properties: {} },
};

function Offer({ client, ...tool }: { client: Client } & Omit<PageTool, 'parameters'>) {
  // Made by each render, as it is mostly written.
  useTool({ ...tool, parameters: { type: 'object', properties: {} } }, client);
  return null;
}

function Maybe({ client, isOn }: { client: Client; isOn: boolean }) {
  useTool(isOn ? { ...note, execute: () => 1 } : null, client);
  return null;
}

async function setup() {
  const page = await setupPage();
  const { link } = await page.connect();
  /** The types of the messages since the last look. */
  let seen = (await link.settled()).length;
  const sent = async () => {
    const all = (await link.settled()).slice(seen, -1);
    seen += all.length + 1;
    return all.map(({ type }) => type);
  };
  return { client: page.callboard, link, sent };
}

test('[UT1] a mounted component offers its tool, an unmounted one does not', async () => {
  const { client, link, sent } = await setup();
  const { unmount } = render(<Offer client={client} {...note} execute={() => 1} />);
  expect(await link.next('register_tools')).toEqual({ type: 'register_tools', tools: [note] });
  await sent();
  unmount();
  expect(await sent()).toEqual(['unregister_tools']);
});

test('[UT1] in StrictMode a tool is registered once, and taken back once', async () => {
  const { client, sent } = await setup();
  const { unmount } = render(
    <StrictMode>
      <Offer client={client} {...note} execute={() => 1} />
    </StrictMode>,
  );
  expect(await sent()).toEqual(['register_tools']);
  unmount();
  expect(await sent()).toEqual(['unregister_tools']);
});

test('[UT1] a component that is shown elsewhere at once keeps its tool', async () => {
  const { client, sent } = await setup();
  const { rerender } = render(<Offer key="a" client={client} {...note} execute={() => 1} />);
  expect(await sent()).toEqual(['register_tools']);
  rerender(<Offer key="b" client={client} {...note} execute={() => 2} />);
  expect(await sent()).toEqual([]);
});

test('[UT2] a call runs the newest execute, and a render registers nothing', async () => {
  const { client: real, link, sent } = await setup();
  const client = { tool: vi.fn(real.tool) as Client['tool'] };
  const { rerender } = render(<Offer client={client} {...note} execute={() => 'first'} />);
  await sent();
  rerender(<Offer client={client} {...note} execute={() => 'second'} />);
  expect(await sent()).toEqual([]);
  expect(client.tool).toHaveBeenCalledOnce();
  await callTool(link, 'tc_1', { name: 'board.write' });
  expect(await link.answer()).toMatchObject({ success: true, output: 'second' });
});

test('[UT2] a call that runs while its component is removed is answered', async () => {
  const { client, link } = await setup();
  const end = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const execute = () => {
    started.resolve();
    return end.promise;
  };
  const { unmount } = render(<Offer client={client} {...note} execute={execute} />);
  await callTool(link, 'tc_1', { name: 'board.write' });
  await started.promise;
  unmount();
  end.resolve('done');
  expect(await link.answer()).toMatchObject({ success: true, output: 'done' });
});

test('[UT3] another description is registered anew, without being taken back before', async () => {
  const { client, link, sent } = await setup();
  const { rerender } = render(<Offer client={client} {...note} execute={() => 1} />);
  await sent();
  rerender(<Offer client={client} {...note} description="Writes in red" execute={() => 1} />);
  expect(await sent()).toEqual(['register_tools']);
  rerender(<Offer client={client} {...note} name="board.read" execute={() => 1} />);
  expect(await link.next('unregister_tools')).toMatchObject({ names: ['board.write'] });
  expect(await link.next('register_tools')).toMatchObject({ tools: [{ name: 'board.read' }] });
});

test('[UT3] a tool that becomes null is offered no longer, until it is there again', async () => {
  const { client, sent } = await setup();
  const { rerender } = render(<Maybe client={client} isOn={false} />);
  expect(await sent()).toEqual([]);
  rerender(<Maybe client={client} isOn />);
  expect(await sent()).toEqual(['register_tools']);
  rerender(<Maybe client={client} isOn={false} />);
  expect(await sent()).toEqual(['unregister_tools']);
});
