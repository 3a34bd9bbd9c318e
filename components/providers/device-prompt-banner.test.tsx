// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { DevicePromptBanner } from './device-prompt-banner.tsx';

function setup(locale: 'en' | 'zh' = 'en') {
  const { workbench } = createTestWorkbench();
  renderIn(workbench, <DevicePromptBanner />, locale);
  const prompt = { callId: 'tc_1', message: 'May I?', signal: new AbortController().signal };
  const { ask, show } = workbench.prompts.getState();
  return {
    ask: (tool: string, more: { detail?: string; onAllow?: () => void } = {}) =>
      shown(() => ask({ ...prompt, tool, ...more })),
    show: (input: boolean) =>
      shown(() =>
        show({
          ...{ ...prompt, tool: 'display.show', title: 'Lunch?', text: undefined },
          ...{ image: undefined, buttons: [], input },
        }),
      ),
  };
}

/** What is asked, once it is on the screen. */
function shown<Answer>(begin: () => Promise<Answer>): { answer: Promise<Answer> } {
  const asked: Promise<Answer>[] = [];
  act(() => void asked.push(begin()));
  const [answer] = asked;
  if (!answer) throw new Error('nothing was asked');
  return { answer };
}

test('[SP60] a touch shows what it is about, in the language of the page, and begins in the click', async () => {
  const { ask } = setup('zh');
  const begun: string[] = [];
  const detail = 'https://a.example/<b>';
  const { answer } = ask('page.open', { detail, onAllow: () => void begun.push('opened') });
  expect(screen.getByText(detail)).toBeDefined();
  expect(screen.getByRole('alert').textContent).toContain('在新窗口中打开此网页？');
  fireEvent.click(screen.getByRole('button', { name: '打开' }));
  expect(begun).toEqual(['opened']);
  expect(await answer).toBe('allowed');
});

test('a tool of another maker asks in its own words', async () => {
  const { ask } = setup();
  const { answer } = ask('lamp.switch');
  expect(screen.getByText('May I?')).toBeDefined();
  fireEvent.click(screen.getByRole('button', { name: 'Not now' }));
  expect(await answer).toBe('denied');
});

test('[SP61] a text alone is sent when there is one', async () => {
  const { show } = setup();
  const { answer } = show(true);
  const send = screen.getByRole<HTMLButtonElement>('button', { name: 'Send' });
  expect(send.disabled).toBe(true);
  fireEvent.change(screen.getByRole('textbox', { name: 'Your answer' }), {
    target: { value: 'soup' },
  });
  fireEvent.click(send);
  expect(await answer).toEqual({ button: null, text: 'soup' });
});

test('[SP61] a question without an answer can be closed', async () => {
  const { show } = setup();
  const { answer } = show(false);
  expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(await answer).toBe('closed');
});
