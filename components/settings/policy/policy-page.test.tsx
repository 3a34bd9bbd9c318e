// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { PolicyStateAnswer } from '#lib/policy/policy-wire';
import type { WireAlwaysRule } from '#lib/protocol/always';
import type { Role } from '#lib/protocol/role';
import { tool as anyTool } from '#lib/stores/testing/fixtures';
import {
  type Answer,
  createTestWorkbench,
  personWith,
  press,
  renderIn,
  type SentRequest,
} from '../../tool-call/testing/in-workbench.tsx';
import { PolicyPage } from './policy-page.tsx';

const HOOK = {
  ...{ name: 'redact', module: './redact.mjs', tools: null, timeout_ms: 500, security: true },
  ...{ before: false, after: true, failures: 0, last_failure: null },
};
const STATE: PolicyStateAnswer = {
  policy: {
    ...{ ask: ['clipboard.*'], deny: [], unknown_effects: 'ask' },
    taint: { private: ['file.read'], untrusted: [], way_out: ['shell'] },
    rules: [
      { name: 'no /etc', effect: 'deny', tools: ['file.write'], reason: 'Not there' },
      { effect: 'allow', via: ['run'] },
    ],
    limits: [{ name: 'mails', calls: 20, seconds: 3_600, tools: ['mail.*'], each: ['caller'] }],
  },
  ...{ file: '/srv/callboard.config.json', loaded_at: 86_400, problem: null },
  autonomy: { level: 'supervised', runs: [{ run_id: 'run_a', level: 'full', set_at: 1 }] },
  hooks: [HOOK, { ...HOOK, name: 'sign', failures: 2, last_failure: { at: 1, message: 'No key' } }],
};
const RULE: WireAlwaysRule = {
  ...{ bound: [], other_arguments: 'any', has_operands: false, uses: null, used: 0 },
  ...{ id: 'r1', run_id: 'run_a', tool_name: 'pay', client_id: 'till', scope: 'saved' },
  caller: { kind: 'run', name: 'agent:bot', id: 'tok_bot' },
  ...{ allowed_at: 86_400, allowed_by: 'operator:olga', expires_at: 172_800, last_used_at: null },
};
const tool = anyTool('mail.send', {
  source: 'client',
  clients: [{ client_id: 'c1', name: 'laptop', visible: true }],
});

type Answers = (request: SentRequest) => Answer | Promise<Answer> | undefined;

async function setup(
  more: Answers = () => undefined,
  { role = 'operator', locale = 'en' }: { role?: Role; locale?: 'en' | 'zh' } = {},
) {
  const { workbench, sent } = createTestWorkbench((request) => {
    const given = more(request);
    if (given) return given;
    if (request.path === '/v1/policy') return { body: STATE };
    if (request.path === '/v1/approvals/always') return { body: { always: [RULE] } };
    return { status: 500, body: {} };
  });
  workbench.me.setState({ me: personWith(role) });
  workbench.listings.setState({ tools: [tool] });
  await act(async () => void renderIn(workbench, <PolicyPage />, locale));
  return { workbench, sent: (path: string) => sent.filter((one) => one.path === path) };
}

const alerts = () => screen.queryAllByRole('alert').flatMap(({ textContent }) => textContent || []);
const texts = (id: string) => screen.queryAllByTestId(id).map(({ textContent }) => textContent);

test('nobody is called a viewer before it is known who is signed in', async () => {
  const { workbench } = await setup();
  act(() => workbench.me.setState({ me: null }));
  expect(screen.queryByText(/signed in as a viewer/i)).toBeNull();
  act(() => workbench.me.setState({ me: personWith('viewer') }));
  expect(screen.getByText(/signed in as a viewer/i)).toBeDefined();
});

test('the page shows the rules in order, defaults, limits, hooks, and where they come from', async () => {
  await setup();
  expect(texts('policy-source')[0]).toMatch(/^Read from \/srv\/callboard\.config\.json, .*1970/);
  expect(texts('policy-rule')).toEqual([
    'ask ask.0tools: ["clipboard.*"]',
    'deny no /etcNot theretools: ["file.write"]',
    'allow rules.1via: ["run"]',
  ]);
  expect(
    screen.getByText(
      /Client tools with effects ask, too, when the built-in agent or another program calls them/,
    ),
  ).toBeDefined();
  expect(texts('policy-limit')).toEqual([
    'mails 20 calls in 3,600 seconds for each callertools: ["mail.*"]',
  ]);
  expect(texts('idle-patterns')[0]).toMatch(/away: clipboard\.\*, file\.write$/);
  expect(texts('policy-mark').map((text) => text?.split(' ').at(-1))).toEqual([
    ...['file.read', '', 'shell'],
  ]);
  const [redact, sign] = texts('hook');
  expect(redact).toMatch(
    /redact .*about results · all tools · 500 ms.*nothing passes when it fails/,
  );
  expect(sign).toMatch(/Failures since the start: 2; the last one .*: No key/);
});

test('where the file does not count, the page says what is wrong with it', async () => {
  const problem = 'rules.0.effect is the text "maybe"';
  await setup(({ path }) =>
    path === '/v1/policy' ? { body: { ...STATE, problem, file: null } } : undefined,
  );
  expect(alerts()).toEqual([expect.stringContaining(problem)]);
  expect(texts('policy-source')[0]).toContain('There is no configuration file');
});

test('a page that the server does not answer shows why, and asks again when a person wants it', async () => {
  let isDown = true;
  await setup(() => (isDown ? { status: 503, body: {} } : undefined));
  expect(alerts()).toHaveLength(2);
  isDown = false;
  const [policy, always] = screen.getAllByRole('button', { name: 'Try again' });
  await act(async () => {
    policy?.click();
    always?.click();
  });
  expect(alerts()).toEqual([]);
  expect(texts('policy-rule')).toHaveLength(3);
});

test.each([
  ['en', 'Switch', 'read only', 'supervised'],
  ['zh', '切换', '只读', '受监督'],
] as const)('the autonomy is switched by a button, in %s', async (locale, name, less, before) => {
  const { sent } = await setup(
    ({ path }) =>
      path.endsWith('/autonomy') ? { body: { level: 'read_only', runs: [] } } : undefined,
    { locale },
  );
  expect(texts('autonomy-now')[0]).toContain(before);
  fireEvent.click(screen.getByRole('radio', { name: new RegExp(less) }));
  expect(sent('/v1/policy/autonomy')).toEqual([]);
  await press(name);
  expect(sent('/v1/policy/autonomy').map(({ body }) => body)).toEqual([{ level: 'read_only' }]);
  expect(texts('autonomy-now')[0]).toContain(less);
});

test('what is chosen while a switch is on its way stays chosen', async () => {
  const given = Promise.withResolvers<Answer>();
  const { sent } = await setup(({ path }) =>
    path.endsWith('/autonomy') ? given.promise : undefined,
  );
  fireEvent.click(screen.getByRole('radio', { name: /^read only/ }));
  await press('Switch');
  fireEvent.click(screen.getByRole('radio', { name: /^supervised/ }));
  await act(async () => given.resolve({ body: { level: 'read_only', runs: [] } }));
  await press('Switch');
  expect(sent('/v1/policy/autonomy').map(({ body }) => body)).toEqual([
    { level: 'read_only' },
    { level: 'supervised' },
  ]);
});

test('a run gets a level of its own, and gives it up', async () => {
  const { sent } = await setup(({ path }) =>
    path.endsWith('/autonomy') ? { body: { level: 'supervised', runs: [] } } : undefined,
  );
  fireEvent.change(screen.getByRole('combobox', { name: 'Run' }), { target: { value: 'run_b' } });
  await press('Set for this run');
  expect(texts('run-level')).toEqual([]);
  cleanup();
  const again = await setup(({ path }) =>
    path.endsWith('/autonomy') ? { body: { level: 'supervised', runs: [] } } : undefined,
  );
  await press('Take away: run_a');
  const bodies = [...sent('/v1/policy/autonomy'), ...again.sent('/v1/policy/autonomy')];
  expect(bodies.map(({ body }) => body)).toEqual([
    { level: 'read_only', run_id: 'run_b' },
    { level: null, run_id: 'run_a' },
  ]);
});

test('a switch that is refused changes nothing on the page', async () => {
  await setup();
  fireEvent.click(screen.getByRole('radio', { name: /^full/ }));
  await press('Switch');
  await press('Switch to full');
  expect(texts('autonomy-now')[0]).toBe('Now, for all runs: supervised. Calls go by the rules.');
});

test.each([
  ['en', 'Switch', 'Switch to full', 'Back', /^full/, 'run at once, with their effects'],
  ['zh', '切换', '切换为完全自主', '返回', /^完全自主/, '会立即执行并产生影响'],
] as const)('[AN5] full autonomy is asked about first, with its meaning, in %s', async (...row) => {
  const [locale, name, confirm, back, full, means] = row;
  const { sent, workbench } = await setup(
    ({ path }) => (path.endsWith('/autonomy') ? { body: { level: 'full', runs: [] } } : undefined),
    { locale },
  );
  fireEvent.click(screen.getByRole('radio', { name: full }));
  await press(name);
  expect(screen.getByTestId('confirm-full').textContent).toContain(means);
  expect(document.activeElement?.textContent).toBe(back);
  await press(back);
  expect(screen.queryByTestId('confirm-full')).toBeNull();
  expect(document.activeElement?.textContent).toBe(name);
  await press(name);
  expect(sent('/v1/policy/autonomy')).toEqual([]);
  await press(confirm);
  expect(sent('/v1/policy/autonomy').map(({ body }) => body)).toEqual([{ level: 'full' }]);
  expect(workbench.autonomy.getState().autonomy?.level).toBe('full');
  expect(document.activeElement?.textContent).toBe(name);
});

test('[AN5] so it is for one run', async () => {
  const { sent } = await setup();
  fireEvent.change(screen.getByRole('combobox', { name: 'Run' }), { target: { value: 'run_b' } });
  const level = screen.getByRole('combobox', { name: 'Level of the run' });
  fireEvent.change(level, { target: { value: 'full' } });
  await press('Set for this run');
  expect(sent('/v1/policy/autonomy')).toEqual([]);
  await press('Switch to full');
  expect(sent('/v1/policy/autonomy').map(({ body }) => body)).toEqual([
    { level: 'full', run_id: 'run_b' },
  ]);
});

test('a viewer reads all of it and can change nothing', async () => {
  await setup(undefined, { role: 'viewer' });
  expect(texts('policy-rule')).toHaveLength(3);
  expect(texts('always')).toHaveLength(1);
  expect(screen.queryByRole('radio')).toBeNull();
  expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual([
    'Look again',
  ]);
});

test('what is always allowed shows by whom, until when and its use, and is revoked after a question', async () => {
  const { sent } = await setup(({ path }) => (path.endsWith('/r1') ? { body: RULE } : undefined));
  expect(texts('always')[0]).toMatch(
    /pay of till, with any arguments, called by the built-in agent for agent:bot, in each run of its owner.*by operator:olga, .*until .*never used/,
  );
  await press('Revoke… pay');
  expect(document.activeElement?.textContent).toBe('Keep it');
  expect(sent('/v1/approvals/always/r1')).toEqual([]);
  await press('Revoke', screen.getByRole('group', { name: 'Ask again before pay?' }));
  expect(sent('/v1/approvals/always/r1')).toHaveLength(1);
  expect(texts('always')).toEqual([]);
  expect(document.activeElement?.textContent).toBe('Always allowed');
});

const DRY = '/v1/policy/dry-run';

test('a call is tried, and the page shows what would happen, by which rule, and why', async () => {
  const answer = {
    ...{ effect: 'ask', rule: 'mail to others', reason: 'It leaves the house', via: 'run' },
    ...{ tool_name: 'mail.send', caller: { kind: 'agent', name: 'bot' }, client_id: 'c1' },
    ...{ access: 'write', schema_hash: 'h', args: { to: 'eve' } },
    limits: [{ limit: 'mails', left: 3, retry_after: 0 }],
  };
  const { sent } = await setup(({ path }) => (path === DRY ? { body: answer } : undefined));
  const choose = (name: string, value: string) =>
    fireEvent.change(screen.getByRole('combobox', { name }), { target: { value } });
  choose('Client', 'c1');
  choose('Caller', 'agent');
  choose('By way of', 'run');
  const name = screen.getByRole('textbox', { name: 'Name of the caller' });
  fireEvent.change(name, { target: { value: 'bot' } });
  const args = screen.getByRole('textbox', { name: 'Arguments as JSON' });
  fireEvent.change(args, { target: { value: '{"to": "eve"}' } });
  await press('Try');
  const caller = { kind: 'agent', name: 'bot' };
  expect(sent(DRY).map(({ body }) => body)).toEqual([
    { tool: 'mail.send@c1', args: { to: 'eve' }, via: 'run', caller },
  ]);
  expect(texts('outcome')[0]).toMatch(
    /^ask by the rule mail to othersIt leaves the househas effects · c1 · mails: 3 left/,
  );
});

test('arguments that are no object are sent nowhere, and have the focus', async () => {
  const { sent } = await setup();
  const args = screen.getByRole('textbox', { name: 'Arguments as JSON' });
  fireEvent.change(args, { target: { value: '[1]' } });
  await press('Try');
  expect(sent(DRY)).toEqual([]);
  expect(screen.getByText('Arguments are one JSON object.')).toBeDefined();
  expect(document.activeElement).toBe(args);
});
