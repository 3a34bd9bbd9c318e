// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { LIMIT_NOTICES } from '#lib/protocol/notice-codes';
import type { Message, MessagePart, RunSummary } from '#lib/protocol/run';
import { message as anyMessage, run as anyRun } from '#lib/stores/testing/fixtures';
import { createTestWorkbench, InWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { MessageView } from './message-view.tsx';
import { RunEnd } from './run-end.tsx';

const notSent = async () => false;

type NoticePart = Extract<MessagePart, { type: 'notice' }>;

const ENGLISH = 'These are the English words of the server.';
const { workbench } = createTestWorkbench();

function show(notice: Omit<NoticePart, 'type'>, locale: 'en' | 'zh'): string {
  const message = anyMessage('msg_1', { status: 'done', parts: [{ type: 'notice', ...notice }] });
  renderIn(workbench, <MessageView message={message} />, locale);
  const text = screen.getByTestId('notice').textContent;
  cleanup();
  return text;
}

const model = 'openai:gpt-5';
const detail = '«detail»';

test.each([
  ['step_limit', { steps: 10 }],
  ['repeated_calls', { tool: 'demo.echo', count: 5 }],
  ['tool_timeouts', { tool: 'demo.echo', count: 3 }],
  ['arguments_cut', { tool: 'demo.echo', count: 2 }],
  ['tool_failures', { tool: 'mail.find', count: 3 }],
  ['budget_seconds', { limit: 61 }],
  ['budget_calls', { limit: 62 }],
  ['budget_tokens', { limit: 63 }],
  ['empty_answers', { count: 3 }],
  ['answer_cut', undefined],
  ['answer_filtered', undefined],
  ['cancelled', undefined],
  ['restarted', undefined],
  ['interrupted', undefined],
  ['tools_left_out', { offered: 128, available: 200 }],
  ['tools_unfit', { model, tool: 'mail.find', more: 2, detail }],
  ['history_left_out', { count: 12, model }],
  ['calls_as_text', { model, tool: 'demo.echo' }],
  ['images_refused', { model }],
  ['content_refused', { model, names: 'temperature' }],
  ['calls_left_out', { count: 872, limit: 32 }],
  ['no_api_key', { model, key: 'OPENAI_API_KEY' }],
  ['model_unauthenticated', { model, status: 401, key: 'OPENAI_API_KEY' }],
  ['model_quota', { model }],
  ['model_rate_limited', { model }],
  ['model_unreachable', { model, detail }],
  ['model_unavailable', { model, status: 503, detail }],
  ['model_not_found', { model }],
  ['model_silent', { model, seconds: 60 }],
  ['model_no_api', { model }],
  ['model_unreadable', { model, detail }],
  ['model_too_long', { model, seconds: 1800 }],
  ['model_failed', { model, detail }],
  ['model_refused_request', { model, status: 400, detail }],
  ['context_too_long', { model }],
  ['tools_not_supported', { model }],
  ['stream_cut', { model }],
  ['endpoint_silent', { url: 'http://127.0.0.1:11434/v1', detail }],
  ['endpoint_empty', { url: 'http://127.0.0.1:11434/v1' }],
  ['internal', { detail }],
  ['store_failed', { detail }],
] as const)('[LN3] the notice %s is in the language of the page, with its facts', (code, given) => {
  const params = given && { params: { ...given } };
  const chinese = show({ code, text: ENGLISH, ...params }, 'zh');
  expect(chinese).not.toContain(ENGLISH);
  expect(chinese).toMatch(/\p{Script=Han}{3}/u);
  for (const fact of Object.values(given ?? {})) expect(chinese).toContain(String(fact));
  const english = show({ code, text: ENGLISH, ...params }, 'en');
  expect(english).not.toMatch(/\p{Script=Han}/u);
  for (const fact of Object.values(given ?? {})) expect(english).toContain(String(fact));
});

test('[LN4] a notice that was stored without its facts shows its words', () => {
  const old = { code: 'model_quota', text: 'The account for openai:gpt-5 has no quota left.' };
  expect(show(old, 'en')).toContain(old.text);
  expect(show(old, 'zh')).toContain(old.text);
});

test('[LN4] a code of a later version shows the words that came with it', () => {
  for (const locale of ['en', 'zh'] as const) {
    expect(show({ code: 'constructor', text: ENGLISH }, locale)).toContain(ENGLISH);
  }
});

test('[LN3] why a run failed is said in the language of the page too', () => {
  const params = { url: 'http://m.test', detail };
  const error = { code: 'endpoint_silent', message: ENGLISH, params };
  const run = anyRun('run_1', { status: 'failed', error });
  renderIn(
    workbench,
    <RunEnd run={run} messages={[]} onSend={() => undefined} resend={notSent} />,
    'zh',
  );
  const text = screen.getByTestId('notice').textContent;
  expect(text).not.toContain(ENGLISH);
  expect(text).toContain('http://m.test');
});

test.each([
  ['failed', 'model_quota'],
  ['cancelled', 'cancelled'],
] as const)('how a %s turn ended is shown once, with what to do next', (status, code) => {
  const ending = { code, text: ENGLISH };
  const message = (role: 'user' | 'assistant', parts: MessagePart[]) =>
    anyMessage(`msg_${role}`, { role, parts, status: 'done' });
  const messages = [
    message('user', [{ type: 'text', text: 'When is high tide?' }]),
    message('assistant', [
      { type: 'text', text: 'The tide is' },
      { type: 'notice', ...ending },
    ]),
  ];
  const error = status === 'failed' ? { code, message: ENGLISH } : null;
  const run = anyRun('run_1', { status, error });
  const end = (of: readonly Message[]) => (
    <InWorkbench workbench={workbench} locale="en">
      {of.map((one) => (
        <MessageView key={one.message_id} message={one} />
      ))}
      <RunEnd run={run} messages={of} onSend={() => undefined} resend={notSent} />
    </InWorkbench>
  );
  const { rerender } = render(end(messages));
  expect(screen.getAllByTestId('notice')).toHaveLength(1);
  const again = status === 'failed' ? 1 : 0;
  expect(screen.queryAllByRole('button', { name: 'Send again' })).toHaveLength(again);
  // A turn that ended before its first message is explained all the same.
  rerender(end(messages.slice(0, 1)));
  expect(screen.getAllByTestId('notice')).toHaveLength(1);
});

test.each(LIMIT_NOTICES)('after a turn that %s ended, one click goes on', (code) => {
  const notice = { type: 'notice' as const, code, text: ENGLISH };
  const parts: MessagePart[] = [{ type: 'text', text: 'So far.' }, notice];
  const message = anyMessage('msg_1', { status: 'done', parts });
  const run = anyRun('run_1', { status: 'idle' });
  const sent: string[] = [];
  const show = (shown: RunSummary, messages: readonly Message[]) => (
    <InWorkbench workbench={workbench} locale="en">
      <RunEnd run={shown} messages={messages} onSend={(text) => sent.push(text)} resend={notSent} />
    </InWorkbench>
  );
  const { rerender } = render(show(run, [message]));
  fireEvent.click(screen.getByRole('button', { name: 'Continue' }));
  expect(sent).toEqual(['Continue.']);
  rerender(show({ ...run, status: 'running' }, [message]));
  expect(screen.queryByRole('button')).toBeNull();
});
