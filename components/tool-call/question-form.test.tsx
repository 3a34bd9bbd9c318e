// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import type { Question } from '#lib/protocol/question';
import { ApprovalVoice } from './approval-voice.tsx';
import { forgetText } from './kept-texts.ts';
import { personWith, press } from './testing/in-workbench.tsx';
import { showCard } from './testing/show-card.tsx';

afterEach(() => forgetText('tc_1'));

const choices = [
  { value: 'r', label: 'Red' },
  { value: 'b', label: 'Bl\u202eue' },
];

async function setup(
  asked: Partial<Question> = {},
  more: CardUpdate = {},
  {
    locale = 'en',
    role = 'operator',
    record = {},
  }: Partial<Record<'locale' | 'role', string>> & { record?: object } = {},
) {
  const params = { question: 'Which colour?', input: 'text' as const, choices: [], ...asked };
  const { workbench, sent, change } = showCard(
    {
      ...{ tool_name: 'ask_human', source: 'server', status: 'WAIT', phase: 'approval', params },
      ...{ question: params.input, approval_reason: params.question, always_rule: null, ...more },
    },
    {
      ...{ answer: () => ({ body: record }), beside: <ApprovalVoice /> },
      locale: locale === 'zh' ? 'zh' : 'en',
    },
  );
  act(() => workbench.me.setState({ me: personWith(role === 'viewer' ? 'viewer' : 'operator') }));
  const answers = () =>
    sent.filter(({ path }) => /\/(answer|approval)$/.test(path)).map(({ body }) => body);
  return { workbench, change, answers };
}

const isBlocked = (name: string) => screen.getByRole('button', { name }).hasAttribute('disabled');

test('[AP11] a question is answered in words, and takes no focus when it comes', async () => {
  const { answers } = await setup();
  const field = await screen.findByRole('textbox', { name: 'Your answer' });
  expect(screen.getByRole('group', { name: 'Which colour?' }).contains(field)).toBe(true);
  expect([document.activeElement, isBlocked('Answer')]).toEqual([document.body, true]);
  expect(screen.queryByRole('button', { name: 'Allow once' })).toBeNull();
  fireEvent.change(field, { target: { value: ' Green ' } });
  await press('Answer');
  expect(answers()).toEqual([{ output: 'Green' }]);
});

test('[AP11] one of its choices, any of them, or yes and no are chosen by their labels', async () => {
  const one = await setup({ input: 'choice', choices });
  fireEvent.click(await screen.findByRole('radio', { name: 'Red' }));
  fireEvent.click(screen.getAllByRole('radio')[1] as HTMLElement);
  await press('Answer');
  expect(one.answers()).toEqual([{ output: 'b' }]);
  cleanup();
  const several = await setup({ input: 'multiple', choices });
  for (const box of await screen.findAllByRole('checkbox')) fireEvent.click(box);
  fireEvent.click(screen.getByRole('checkbox', { name: 'Red' }));
  await press('Answer');
  expect(several.answers()).toEqual([{ output: ['b'] }]);
  cleanup();
  const yesNo = await setup({ input: 'yes_no' }, {}, { locale: 'zh' });
  fireEvent.click(await screen.findByRole('radio', { name: '否' }));
  await press('回答');
  expect(yesNo.answers()).toEqual([{ output: false }]);
});

test('[AP11] hidden characters of a choice are shown as marks, and markup as text', async () => {
  await setup({ question: '<b>Approved ✔</b>', input: 'choice', choices });
  expect(await screen.findByText('<b>Approved ✔</b>')).toBeDefined();
  expect(screen.getAllByRole('radio')[1]?.closest('label')?.textContent).toContain('U+202E');
});

test('[AP11] it is declined with a reason, and who leaves that comes back', async () => {
  const { answers } = await setup();
  await screen.findByRole('textbox', { name: 'Your answer' });
  await press('Decline…');
  await press('Back');
  expect(document.activeElement?.textContent).toBe('Decline…');
  await press('Decline…');
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'Ask my boss' } });
  await press('Decline');
  expect(answers()).toEqual([{ decision: 'no', note: 'Ask my boss' }]);
});

test('[AP11] of a question that the card has in part, the record is fetched', async () => {
  const args = { question: 'A long one?', input: 'choice', choices };
  await setup({ question: 'A lo' }, { params_bytes: 9_000 }, { record: { args } });
  expect(await screen.findByText('A long one?')).toBeDefined();
  expect(screen.getAllByRole('radio')).toHaveLength(2);
});

test('[AP11] a viewer reads the question, and who answers it', async () => {
  await setup({}, {}, { role: 'viewer' });
  expect(screen.getByText('Which colour?')).toBeDefined();
  expect(screen.getByText('An operator or administrator answers this question.')).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Answer' })).toBeNull();
});

test('[CD28] until it is known who reads, nobody is told that others answer', async () => {
  const { workbench } = await setup();
  act(() => workbench.me.setState({ me: null }));
  expect(screen.getByText('Which colour?')).toBeDefined();
  expect(screen.queryByText(/An operator or administrator/)).toBeNull();
});

test('[AP11] once it is answered, declined or has expired, its card shows by whom, or why', async () => {
  const { change } = await setup();
  expect(screen.getByTestId('status-chip').textContent).toBe('Needs an answer');
  const by = 'operator:anna';
  change({ status: 'SUCCESS', phase: null, approval_decision: { by, decision: 'answer' } });
  expect(screen.getByTestId('decided-by').textContent).toBe('Answered by operator:anna');
  cleanup();
  const denied = { code: 'denied', message: 'No', executed: 'no' } as const;
  const declined = await setup();
  declined.change({ approval_decision: { by, decision: 'no' } });
  declined.change({ status: 'ERROR', phase: null, error: denied });
  expect(screen.getByText(/^The person who was asked declined to answer\./)).toBeDefined();
  expect(screen.getByTestId('decided-by').textContent).toBe('Declined by operator:anna');
  cleanup();
  const late = await setup();
  late.change({ status: 'ERROR', phase: null, error: { ...denied, code: 'approval_expired' } });
  expect(screen.getByText(/^No person answered in time\./)).toBeDefined();
});

test('[AP11] a question is announced as one', async () => {
  const { workbench } = await setup();
  const approval = { tool_call_id: 'tc_1', run_id: 'run_1', tool_name: 'ask_human', reason: '' };
  act(() =>
    workbench.listings.setState({ approvals: [{ ...approval, expires_at: 1, question: 'text' }] }),
  );
  expect(screen.getByRole('alert').textContent).toBe(
    'The agent asks a question, which waits for an answer.',
  );
});
