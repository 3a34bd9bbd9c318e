// @vitest-environment happy-dom
import { act, fireEvent, render, screen } from '@testing-library/react';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withTouch } from '#lib/browser-tools/with-touch';
import { defineClientTool } from '#lib/client/tool-arguments';
import zh from '../../lib/i18n/messages/device/zh.json';
import { AskSheet } from './ask-sheet.tsx';
import { DevicePageProvider } from './device-context.tsx';
import { createDeviceMemory } from './device-memory.ts';
import { createPagePrompts } from './device-runtime.ts';
import { createDeviceStore } from './device-store.ts';
import { gateTool } from './gate-tool.ts';
import { createPairingApi } from './pairing-api.ts';
import { memoryStorage } from './testing/memory-storage.ts';

function setUp(loadBlob = async (id: string) => `blob:${id}`) {
  vi.useFakeTimers();
  const memory = createDeviceMemory(memoryStorage());
  const store = createDeviceStore(memory);
  const api = createPairingApi(() => Promise.reject(new TypeError('no network')));
  const page = { texts: zh, locale: 'zh', memory, isKept: true, api } as const;
  render(
    <DevicePageProvider page={page}>
      <AskSheet store={store} />
    </DevicePageProvider>,
  );
  const untilReady = () => act(async () => void (await vi.advanceTimersByTimeAsync(300)));
  return { store, prompts: createPagePrompts(store, loadBlob), untilReady };
}

const ended = new AbortController();
const call = { callId: 'call_1', signal: ended.signal };

test('[DP32] a tool’s own question has the words of the page, and what the tool opens is opened inside the tap', async () => {
  const { prompts, untilReady } = setUp();
  const onAllow = vi.fn();
  const detail = 'https://example.org/';
  const asked = { ...call, tool: 'page.open', message: 'Open it?', detail, onAllow };
  const answer = prompts.ask(asked);
  await untilReady();
  const region = screen.getByRole('region');
  expect(region.textContent).toContain('允许 打开网页？');
  expect(region.textContent).toContain('在新窗口中打开此网页？');
  expect(region.textContent).toContain(detail);
  act(() => {
    fireEvent.click(screen.getByRole('button', { name: '打开' }));
    // Before anything else runs: a browser counts the tap no longer.
    expect(onAllow).toHaveBeenCalledOnce();
  });
  expect(await answer).toBe('allowed');
});

test('[DP32] declined, nothing is opened', async () => {
  const { prompts, untilReady } = setUp();
  const onAllow = vi.fn();
  const answer = prompts.ask({ ...call, tool: 'file.pick', message: 'Choose?', onAllow });
  await untilReady();
  act(() => void fireEvent.click(screen.getByRole('button', { name: '拒绝…' })));
  act(() => void fireEvent.submit(screen.getByRole('textbox')));
  expect([await answer, onAllow.mock.calls]).toEqual(['denied', []]);
});

test('[DP32] a shown question gives the button and the text, or that it was closed', async () => {
  const { prompts, untilReady } = setUp();
  const shown = {
    ...{ ...call, tool: 'display.show', message: 'Lunch', title: 'Lunch', text: undefined },
    ...{ image: { blobId: 'a' }, buttons: ['In', 'Out'], input: true },
  };
  const answer = prompts.show(shown);
  await untilReady();
  expect(screen.getByRole('img').getAttribute('src')).toBe('blob:a');
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'soon' } });
  act(() => void fireEvent.click(screen.getByRole('button', { name: 'Out' })));
  expect(await answer).toEqual({ button: 1, text: 'soon' });
  const second = prompts.show({ ...shown, image: undefined });
  await untilReady();
  act(() => void fireEvent.click(screen.getByRole('button', { name: zh.ask.close })));
  expect(await second).toBe('closed');
});

/** The browser counts any tap for five seconds. */
function touchedAMomentAgo() {
  vi.stubGlobal('navigator', { ...navigator, userActivation: { isActive: true } });
  onTestFinished(() => void vi.unstubAllGlobals());
}

test('[DP45] a tap of a moment ago allows nothing: the sheet asks', async () => {
  const { prompts, untilReady } = setUp();
  touchedAMomentAgo();
  const onAllow = vi.fn();
  void prompts.ask({ ...call, tool: 'page.open', message: 'Open it?', onAllow });
  await untilReady();
  expect(onAllow).not.toHaveBeenCalled();
  expect(screen.getByRole('button', { name: '打开' })).toBeDefined();
});

test('[DP45] the tap that allows a call is the touch of that call, and of no other', async () => {
  const { store, prompts, untilReady } = setUp();
  touchedAMomentAgo();
  const open = vi.fn(async () => 'opened');
  const tool = defineClientTool({
    ...{ name: 'page.open', displayName: 'Open', description: 'Opens', args: {} },
    async run(_args, context) {
      const question = { tool: 'page.open', message: 'Open it?', what: 'to open it' };
      return { output: await withTouch(prompts, question, context, open) };
    },
  });
  const gated = gateTool(tool, { store, isVisible: () => true, now: Date.now });
  const run = (callId: string) =>
    gated.run({}, { ...call, callId, runId: 'r', status() {}, askDevice: (ask) => ask() });
  const first = run('call_1');
  const other = run('call_2');
  await untilReady();
  act(() => void fireEvent.click(screen.getByRole('button', { name: zh.ask.allow })));
  // In what follows the tap at once, before any timer or message: a browser counts it no longer.
  await Promise.resolve().then(() => first);
  expect(open).toHaveBeenCalledOnce();
  void other;
});
