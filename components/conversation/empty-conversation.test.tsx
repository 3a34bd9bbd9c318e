// @vitest-environment happy-dom
import { act, fireEvent, render, screen } from '@testing-library/react';
import { NextIntlClientProvider } from 'next-intl';
import { expect, test } from 'vitest';
import { catalogue } from '#lib/i18n/catalogue';
import { WorkbenchContext } from '../providers/workbench-context.tsx';
import { createWorkbench } from '../providers/workbench-provider.tsx';
import { EmptyConversation } from './empty-conversation.tsx';

function setup(tools: readonly string[]) {
  const started: string[] = [];
  const workbench = createWorkbench({ fetch, baseUrl: 'http://unused.invalid' });
  workbench.tab.setState({ tools });
  render(
    <NextIntlClientProvider locale="en" messages={catalogue.en}>
      <WorkbenchContext value={workbench}>
        <EmptyConversation onStart={(text) => started.push(text)} />
      </WorkbenchContext>
    </NextIntlClientProvider>,
  );
  return { started, workbench };
}

test('each starter prompt is sent as it reads', () => {
  const { started } = setup([]);
  for (const button of screen.getAllByRole('button')) fireEvent.click(button);
  expect(started).toEqual([
    'Take a screenshot of this page and tell me my position',
    'What device am I on?',
    '(2+3)*4',
  ]);
});

test('it says what this very tab offers, from when the server has it', () => {
  const { workbench } = setup(['device.info', 'page.text']);
  expect(screen.getByText('This tab is connecting, to offer 2 tools:')).toBeDefined();
  act(() => workbench.tab.setState({ status: 'registered' }));
  expect(screen.getByText('This tab offers 2 tools:')).toBeDefined();
  expect(screen.getByText('page.text')).toBeDefined();
});

test.each([true, false])(
  'that no key and no network is needed is said of the rehearsal alone (%s)',
  (rehearsal) => {
    const { workbench } = setup([]);
    const model = rehearsal ? 'rehearsal' : 'openai:gpt-5';
    const facts = { label: model, provider: 'x', images: false, default: true };
    act(() => workbench.models.getState().load([{ ...facts, model, rehearsal }], model));
    expect(screen.queryByText(/no key and no network/) !== null).toBe(rehearsal);
  },
);
