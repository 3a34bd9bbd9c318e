// @vitest-environment happy-dom
import { screen } from '@testing-library/react';
import { useTranslations } from 'next-intl';
import { expect, test } from 'vitest';
import type { Card } from '#lib/protocol/card';
import { approvalReasons, cardSentence } from './card-sentence.ts';
import { cardView } from './card-view.ts';
import { ErrorPanel } from './error-panel.tsx';
import { createTestWorkbench, renderIn } from './testing/in-workbench.tsx';

const ENGLISH = 'The policy of this server asks an operator before gate.ask';

function Sentence({ card }: { card: Card }) {
  const sentence = cardSentence(card, cardView(card), useTranslations('card'));
  return <p data-testid="sentence">{sentence?.text}</p>;
}

const sentenceOf = (locale: 'en' | 'zh', more: Partial<Card>) => {
  const card: Card = {
    params: {},
    status: 'WAIT',
    phase: 'approval',
    tool_name: 'gate.ask',
    ...more,
  };
  const { workbench } = createTestWorkbench();
  renderIn(workbench, <Sentence card={card} />, locale);
  return screen.getByTestId('sentence').textContent;
};

test.each([
  ['en', `${ENGLISH}.`],
  ['zh', '按此服务器的策略，调用 gate.ask 前须由操作员批准。'],
] as const)('why the policy asks is shown in the language of the page (%s)', (locale, text) => {
  const policy = { approval_reason: ENGLISH, approval_reason_code: 'policy' } as const;
  expect(sentenceOf(locale, policy)).toBe(text);
});

const READ = { private: 'file.read', untrusted: 'mail.list' };

test.each([
  [
    'en',
    'taint',
    READ,
    /^The run has read private data \(file\.read\).+\(mail\.list\), and gate\.ask could/,
  ],
  [
    'zh',
    'taint',
    READ,
    /^此运行已读取私有数据（file\.read）和他人的内容（mail\.list），而 gate\.ask/,
  ],
  ['zh', 'policy', READ, /^按此服务器的策略.+。此运行已读取私有数据/],
  ['en', 'policy', READ, /^The policy .+ before gate\.ask\. The run has read private data/],
  ['zh', 'destructive', null, /^gate\.ask 可能/],
  ['zh', 'unknown_effects', null, /^gate\.ask 是/],
] as const)(
  '[CD34] why it is asked is in the language of the page, by its code (%s, %s)',
  (locale, approval_reason_code, approval_reason_params, text) => {
    const reason = { approval_reason: 'x', approval_reason_code, approval_reason_params };
    expect(sentenceOf(locale, reason)).toMatch(text);
  },
);

const REASONS: Card = {
  ...{ params: {}, status: 'WAIT', phase: 'approval', tool_name: 'gate.ask' },
  approval_reason: 'x',
  approval_reasons: [
    { code: 'hook', text: 'To 12 people' },
    { code: 'rule', text: 'It leaves the house' },
    { code: 'destructive', text: 'x' },
    { code: 'taint', text: 'x', read: READ },
  ],
};

function Reasons({ card }: { card: Card }) {
  const reasons = approvalReasons(card, cardView(card), useTranslations('card'));
  return <p data-testid="reasons">{reasons.map(({ text }) => text).join('|')}</p>;
}

test.each([
  [
    'en',
    /^To 12 people\|It leaves the house\|gate\.ask may [^|]+\|The run has read [^|]+\(mail\.list\)/,
  ],
  ['zh', /^To 12 people\|It leaves the house\|gate\.ask 可能[^|]+\|此运行已读取[^|]+$/],
] as const)('[CD34] each of several reasons is shown, by its code (%s)', (locale, text) => {
  const { workbench } = createTestWorkbench();
  renderIn(workbench, <Reasons card={REASONS} />, locale);
  expect(screen.getByTestId('reasons').textContent).toMatch(text);
});

test('a reason without a code is shown as it was given', () => {
  expect(sentenceOf('zh', { approval_reason: 'It takes a photo.' })).toBe('It takes a photo.');
});

test.each([
  ['en', 'Cancelled by olga.'],
  ['zh', 'olga 取消了调用。'],
] as const)('a cancelled call shows who cancelled it (%s)', (locale, text) => {
  const { workbench } = createTestWorkbench();
  const error = { code: 'cancelled', message: 'The run was stopped.', executed: 'no' } as const;
  const card: Card = { params: {}, status: 'ERROR', error, cancelled_by: 'operator:olga' };
  renderIn(workbench, <ErrorPanel card={card} />, locale);
  expect(screen.getByTestId('card-cause').textContent).toContain(text);
  expect(screen.queryByText('The run was stopped.')).toBeNull();
});

test('a denied call shows why in the words of who denied it, and not the English ones of the server', () => {
  const { workbench } = createTestWorkbench();
  const error = {
    code: 'denied',
    message: 'An operator denied the call: too late',
    executed: 'no',
  } as const;
  const approval_decision = { by: 'operator:olga', decision: 'no', note: 'too late' } as const;
  renderIn(
    workbench,
    <ErrorPanel card={{ params: {}, status: 'ERROR', error, approval_decision }} />,
    'zh',
  );
  expect(screen.queryByText(/An operator/)).toBeNull();
  expect(screen.getByText('too late')).toBeDefined();
});

test('a call that the model repeated is one sentence, and no denial', () => {
  const { workbench } = createTestWorkbench();
  const error = {
    code: 'denied',
    reason: 'repeated_call',
    executed: 'no',
    message: 'This call was made before.',
  } as const;
  const card: Card = { params: {}, status: 'ERROR', error };
  expect(cardView(card)).toMatchObject({ kind: 'repeated', tone: 'cancel' });
  renderIn(workbench, <ErrorPanel card={card} />);
  expect(screen.getByTestId('card-cause').textContent).toBe(
    'The model repeated a call that gave the same result each time, so it did not run again.',
  );
  expect(screen.queryByText('This call was made before.')).toBeNull();
});
