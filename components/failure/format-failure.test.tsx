// @vitest-environment happy-dom
import { act, cleanup, render, screen, waitFor } from '@testing-library/react';
import { expect, test } from 'vitest';
import { HTTP_ERRORS } from '#lib/protocol/http-error';
import { createTestWorkbench, InWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { useCardActions } from '../tool-call/use-card-actions.tsx';
import { Toaster } from '../ui/toaster.tsx';
import { type FailedRequest, useFormatFailure } from './format-failure.ts';

const SERVERS = 'These are the English words of the server.';
const BROWSERS = 'TypeError: Failed to fetch';

function Words({ failure }: { failure: FailedRequest }) {
  return <p data-testid="words">{useFormatFailure()(failure)}</p>;
}

function wordsFor(failure: FailedRequest, locale: 'en' | 'zh'): string {
  const { workbench } = createTestWorkbench();
  renderIn(workbench, <Words failure={failure} />, locale);
  const { textContent } = screen.getByTestId('words');
  cleanup();
  return textContent;
}

test.each([...Object.entries(HTTP_ERRORS), ['of_a_later_version', 418] as const])(
  '[LN5] the error %s is shown in the language of the page, in English by the server',
  (code, status) => {
    const failure = { code, status, message: SERVERS };
    expect(wordsFor(failure, 'zh')).not.toContain(SERVERS);
    expect(wordsFor(failure, 'zh')).toMatch(/\p{Script=Han}{3}/u);
    expect(wordsFor(failure, 'en')).toBe(SERVERS);
  },
);

test.each([
  ['unreachable', 0],
  ['unexpected_answer', 502],
])('[LN5] %s is never shown in the words of the browser', (code, status) => {
  const failure = { code, status, message: BROWSERS };
  expect(wordsFor(failure, 'zh')).not.toContain('fetch');
  expect(wordsFor(failure, 'zh')).toMatch(/\p{Script=Han}{3}/u);
  expect(wordsFor(failure, 'en')).not.toContain('fetch');
});

function Cancel() {
  const { actions } = useCardActions();
  return (
    <button type="button" onClick={() => void actions.cancel('tc_1')}>
      cancel
    </button>
  );
}

test.each([
  [409, 'already_final', '取消失败调用已经结束。'],
  [409, 'conflict', '取消失败状态已经变化，或者其他操作仍在进行。请查看最新状态后再试。'],
  [503, 'shutting_down', '取消失败服务器正在停止。请等它恢复后再试。'],
  [0, 'unreachable', '取消失败无法连接服务器。服务器还在运行吗？请等它恢复后再试。'],
])('[LN5] a card whose request fails by %i %s shows it in Chinese', async (status, code, text) => {
  const { workbench } = createTestWorkbench(() => {
    if (status === 0) throw new TypeError('Failed to fetch');
    return { status, body: { error: { code, message: SERVERS } } };
  });
  render(
    <InWorkbench workbench={workbench} locale="zh">
      <Cancel />
      <Toaster label="消息" closeLabel="关闭" />
    </InWorkbench>,
  );
  await act(async () => screen.getByRole('button', { name: 'cancel' }).click());
  await waitFor(() =>
    expect(screen.getAllByRole('listitem').map((toast) => toast.textContent)).toContain(text),
  );
});

test.each([
  ['en', 'olga denied this before you.', 'The call has already ended: it timed out.'],
  ['zh', 'olga 已先于您拒绝。', '调用已经结束：超时。'],
] as const)(
  '[LN5] whose decision came first, and how a call ended, is in the words (%s)',
  (locale, first, ended) => {
    const failure = { code: 'already_final', status: 409, message: SERVERS };
    const params = { status: 'FAILED', by: 'operator:olga', decision: 'no' };
    expect(wordsFor({ ...failure, params }, locale)).toBe(first);
    expect(wordsFor({ ...failure, params: { status: 'TIMEOUT' } }, locale)).toBe(ended);
  },
);

test.each([
  ['always', 'olga allowed this before you.', '允许'],
  ['answer', 'olga answered this before you.', '回答'],
  ['cancel', 'olga cancelled this before you.', '取消'],
])('[LN5] so is that a decision of another person was %s', (decision, english, chinese) => {
  const params = { status: 'FAILED', by: 'operator:olga', decision };
  const failure = { code: 'already_final', status: 409, message: SERVERS, params };
  expect(wordsFor(failure, 'en')).toBe(english);
  expect(wordsFor(failure, 'zh')).toContain(chinese);
});
