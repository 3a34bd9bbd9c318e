// @vitest-environment happy-dom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CardUpdate } from '#lib/protocol/card';
import { callRecord } from '#lib/stores/testing/fixtures';
import { forgetText } from './kept-texts.ts';
import { type Answer, press } from './testing/in-workbench.tsx';
import { layOut } from './testing/layout.ts';
import { type ShowOptions, showCard } from './testing/show-card.tsx';

afterEach(() => forgetText('tc_1'));

const LONG = { height: 240, content: 3_000 };
const args = { to: 'Ada', amount: 10 };
const always_rule = { tool_name: 'pay', client_id: 'till', run_id: 'run_1', tool_hash: 'h' };
const ALWAYS = 'Allow, and do not ask again';

function setup(update: CardUpdate = {}, options: ShowOptions = {}) {
  const shown = showCard(
    {
      ...{ tool_name: 'bank.pay', source: 'client', status: 'WAIT', phase: 'approval' },
      ...{ always_rule, params: args, clock: { name: 'approval', deadline_at: 2_000 } },
      ...update,
    },
    options,
  );
  const decisions = () => shown.sent.filter(({ path }) => path.endsWith('/approval'));
  return { ...shown, decisions };
}

const button = (name: string | RegExp) => screen.getByRole('button', { name });
const region = () => screen.getByRole('group', { name: 'Arguments to allow' });
const isBlocked = (name: string) => button(name).getAttribute('aria-disabled') === 'true';

function scrollTo(element: Element, top: number): void {
  element.scrollTop = top;
  fireEvent.scroll(element);
}

describe('arguments that do not fit', () => {
  beforeEach(() => layOut(LONG));

  test('[AP1] allow nothing before their end was in view', async () => {
    const { decisions } = setup();
    await press('Allow once');
    await press('Always…');
    await press(ALWAYS);
    scrollTo(region(), 1_000);
    await press('Allow once');
    expect(decisions()).toEqual([]);
    scrollTo(region(), 2_760);
    await press('Allow once');
    expect(decisions().map(({ body }) => body)).toEqual([{ decision: 'yes', expires_at: 2_000 }]);
  });

  test('[AP1] allow a call for good only when they were read, too', async () => {
    const { decisions } = setup();
    scrollTo(region(), 2_760);
    scrollTo(region(), 0);
    await press('Always…');
    await press(ALWAYS);
    expect(decisions().map(({ body }) => body)).toEqual([
      { decision: 'always', scope: 'run', expires_at: 2_000 },
    ]);
  });

  test('[AP7] show the exact rule of "always" before it is written, as it is chosen', async () => {
    const { decisions } = setup();
    expect(button('Always…').getAttribute('aria-expanded')).toBe('false');
    await press('Always…');
    scrollTo(region(), 2_760);
    const rule = () => screen.getByTestId('always-rule').textContent;
    const [where, howLong] = screen.getAllByRole<HTMLSelectElement>('combobox');
    if (!where || !howLong) throw new Error('The form has no two fields');
    expect(document.activeElement).toBe(where);
    expect(rule()).toContain(
      'pay of till, as it is described now, with any arguments; in this run',
    );
    expect(rule()).toContain('until it is revoked');
    fireEvent.change(where, { target: { value: 'saved' } });
    expect(rule()).toContain('in each run of its owner; for 30 days');
    expect([...howLong.options].map(({ value }) => value)).toEqual([
      'hour',
      'day',
      'month',
      'year',
    ]);
    fireEvent.change(howLong, { target: { value: 'day' } });
    expect(rule()).toContain('for 1 day');
    expect(decisions()).toEqual([]);
    await press(ALWAYS);
    expect(decisions().map(({ body }) => body)).toEqual([
      { decision: 'always', scope: 'saved', expires_in: 86_400, expires_at: 2_000 },
    ]);
  });

  test('[AP15] a rule is bound to what a person chooses of the arguments, in words before it is written', async () => {
    const { decisions } = setup({ params: { argv: ['npm', 'test'], amount: 5 } });
    await press('Always…');
    const rule = () => screen.getByTestId('always-rule').textContent;
    const choose = (name: string, value: string) =>
      fireEvent.change(screen.getByRole('combobox', { name }), { target: { value } });
    choose('Arguments', 'exact');
    expect(rule()).toContain(
      'where argv is ["npm","test"] and amount is 5; other arguments: none; in this run',
    );
    choose('Arguments', 'chosen');
    expect(rule()).toContain('with any arguments');
    choose('argv', 'start-1');
    choose('How often', '5');
    expect(rule()).toContain('where argv begins with ["npm"]; other arguments: any; in this run');
    expect(rule()).toContain('for 5 calls');
    scrollTo(region(), 2_760);
    await press(ALWAYS);
    expect(decisions().map(({ body }) => body)).toEqual([
      {
        ...{ decision: 'always', scope: 'run', expires_at: 2_000, uses: 5 },
        ...{ bound: [{ name: 'argv', starts_with: ['npm'] }], other_arguments: 'any' },
      },
    ]);
  });

  test('[AP15] a rule that would not allow its own call, or does not fit, says so and is not sent', async () => {
    const params = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`n${at}`, 50]));
    const { decisions } = setup({ params });
    await press('Always…');
    scrollTo(region(), 2_760);
    const choose = (name: string, value: string) =>
      fireEvent.change(screen.getByRole('combobox', { name }), { target: { value } });
    choose('Arguments', 'exact');
    expect(screen.getByTestId('always-problem').textContent).toContain('too many or too large');
    await press(ALWAYS);
    choose('Arguments', 'chosen');
    choose('n0', 'most');
    fireEvent.change(screen.getByRole('spinbutton'), { target: { value: '10' } });
    expect(screen.getByTestId('always-problem').textContent).toContain('would not allow this call');
    await press(ALWAYS);
    expect([isBlocked(ALWAYS), decisions()]).toEqual([true, []]);
    fireEvent.change(screen.getByRole('spinbutton'), { target: { value: '60' } });
    expect(screen.queryByTestId('always-problem')).toBeNull();
    await press(ALWAYS);
    expect(decisions()).toHaveLength(1);
  });

  test('[AP15] a rule in Chinese has the marks of its language', async () => {
    setup({}, { locale: 'zh' });
    await press('总是允许…');
    const often = screen.getByRole('combobox', { name: '次数' });
    fireEvent.change(often, { target: { value: '1' } });
    expect(screen.getByTestId('always-rule').textContent).toMatch(/直到被撤销；1 次调用。$/);
  });

  test('[AP15] where the server asks for the very arguments there is no other choice', async () => {
    const binding = 'exact' as const;
    setup({ always_rule: { ...always_rule, binding }, params: { argv: ['ls'] } });
    await press('Always…');
    const form = screen.getByRole<HTMLSelectElement>('combobox', { name: 'Arguments' });
    expect([...form.options].map(({ value }) => value)).toEqual(['exact']);
    expect(screen.getByTestId('always-rule').textContent).toContain('where argv is ["ls"]');
  });

  test('[AP7] write nothing when a person goes back, and the focus goes to the button', async () => {
    const { decisions } = setup();
    await press('Always…');
    await press('Back');
    expect(document.activeElement).toBe(button('Always…'));
    expect([screen.queryByTestId('always-form'), decisions()]).toEqual([null, []]);
  });

  test.each([null, undefined])('[AP7] have no "always" where its rule is %s', (rule) => {
    setup({ always_rule: rule });
    expect(screen.queryByText('Always…')).toBeNull();
    expect(button('Allow once')).toBeDefined();
  });

  test.each([
    ['en', 'Fold (24 B)', 'Arguments folded: 24 B', 'Show them', 'Allow once'],
    ['zh', '折叠（24 B）', '参数已折叠：24 B', '显示参数', '允许一次'],
  ] as const)('[AP1] can be folded by size, in %s', async (locale, fold, folded, show, allow) => {
    const { decisions } = setup({}, { locale });
    expect(button(fold).getAttribute('aria-expanded')).toBe('true');
    await press(fold);
    expect(screen.getByTestId('folded').textContent).toBe(folded);
    expect(isBlocked(allow)).toBe(false);
    await press(show);
    expect(isBlocked(allow)).toBe(true);
    await press(show === 'Show them' ? 'Fold (24 B)' : '折叠（24 B）');
    await press(allow);
    expect(decisions()).toHaveLength(1);
  });

  test('[AP1] do not prevent a denial', async () => {
    const { decisions } = setup();
    await press('Deny');
    expect(decisions().map(({ body }) => body)).toEqual([{ decision: 'no', expires_at: 2_000 }]);
  });

  test('[AP4] keep their buttons in reach, with the reason, and a press leads to them', async () => {
    setup();
    const allow = button('Allow once');
    const reason = document.getElementById(allow.getAttribute('aria-describedby') ?? '');
    expect(reason?.textContent).toContain('scroll to the end of its arguments');
    allow.focus();
    expect(document.activeElement).toBe(allow);
    await press('Allow once');
    expect(document.activeElement).toBe(region());
    scrollTo(region(), 2_760);
    expect(allow.getAttribute('aria-describedby')).toBeNull();
    expect(screen.getByText(/can be allowed now/).getAttribute('role')).toBe('status');
  });

  test.each<[string, CardUpdate]>([
    ['other arguments', { params: { amount: 10_000 } }],
    ['another client', { client_id: 'cl_2' }],
    ['a question asked anew', { clock: { name: 'approval', deadline_at: 3_000 } }],
  ])('[AP2] are not read after %s', (_what, update) => {
    const { change } = setup();
    scrollTo(region(), 2_760);
    expect(isBlocked('Allow once')).toBe(false);
    change(update);
    expect(isBlocked('Allow once')).toBe(true);
    scrollTo(region(), 2_760);
    expect(isBlocked('Allow once')).toBe(false);
  });

  test('[AP2] are not folded any more after they changed', async () => {
    const { change } = setup();
    await press(/^Fold/);
    change({ params: { amount: 10_000 } });
    expect(screen.queryByTestId('folded')).toBeNull();
    expect(isBlocked('Allow once')).toBe(true);
  });

  test('[AP2] are read to their end where they are edited, after each edit', async () => {
    const { decisions } = setup();
    await press('Edit arguments…');
    const field = screen.getByRole('textbox', { name: 'Arguments to allow' });
    await press('Allow with these');
    scrollTo(field, 2_760);
    expect(isBlocked('Allow with these')).toBe(false);
    scrollTo(field, 0);
    fireEvent.change(field, { target: { value: '{"to": "Eve"}' } });
    await press('Allow with these');
    expect(decisions()).toEqual([]);
    scrollTo(field, 2_760);
    await press('Allow with these');
    expect(decisions().map(({ body }) => body)).toEqual([
      { decision: 'yes', args: { to: 'Eve' }, expires_at: 2_000 },
    ]);
  });
});

describe('[AP6] what a person has written in place of the arguments', () => {
  const field = () => screen.getByRole<HTMLTextAreaElement>('textbox');
  const edit = async () => {
    await press('Edit arguments…');
    fireEvent.change(field(), { target: { value: '{"to": "Eve"}' } });
  };

  test.each<[string, CardUpdate]>([
    ['clocks that a restart moved', { clock: { name: 'approval', deadline_at: 3_000 } }],
    ['another client', { client_id: 'cl_2' }],
  ])('is kept after %s, and not read yet', async (_what, update) => {
    layOut(LONG);
    const { change, decisions } = setup();
    await edit();
    scrollTo(field(), 2_760);
    change(update);
    expect(field().value).toBe('{"to": "Eve"}');
    await press('Allow with these');
    expect(decisions()).toEqual([]);
    scrollTo(field(), 2_760);
    await press('Allow with these');
    expect(decisions().map(({ body }) => body)).toMatchObject([
      { decision: 'yes', args: { to: 'Eve' } },
    ]);
  });

  test('goes with the arguments that it was written for, and when one goes back', async () => {
    layOut({ height: 100 });
    const { change } = setup();
    await edit();
    change({ params: { amount: 10_000 } });
    expect(screen.queryByRole('textbox')).toBeNull();
    await edit();
    await press('Back');
    await press('Edit arguments…');
    expect(JSON.parse(field().value)).toEqual({ ...args, amount: 10_000 });
  });
});

test('[AP1] arguments that fit are read at once, and need no fold', () => {
  layOut({ height: 100 });
  setup();
  expect(isBlocked('Allow once')).toBe(false);
  expect(screen.queryByRole('button', { name: /^Fold/ })).toBeNull();
});

test('[AP1] T73: arguments in a hidden panel were not shown', () => {
  layOut({ height: 0 });
  setup();
  expect(isBlocked('Allow once')).toBe(true);
});

describe('arguments of which the card has the beginning', () => {
  const large = { params_bytes: 48_000, truncated: true, params: { memo: 'aa' } };
  const record = (memo: string): Answer => ({ body: callRecord({ args: { memo } }) });

  test('[AP3] are fetched, and the decision is on all of them', async () => {
    layOut(LONG);
    const { sent } = setup(large, { answer: () => record('aa and all the rest') });
    expect(isBlocked('Allow once')).toBe(true);
    expect(button('Fold (48 kB)')).toBeDefined();
    expect(button('Edit arguments…')).toHaveProperty('disabled', true);
    expect(await screen.findByText(/aa and all the rest/)).toBeDefined();
    expect(sent.map(({ path }) => path)).toEqual(['/v1/tool_calls/tc_1']);
    expect(isBlocked('Allow once')).toBe(true);
    scrollTo(region(), 2_760);
    expect(isBlocked('Allow once')).toBe(false);
  });

  test('[AP3] that cannot be fetched can be denied, folded, or fetched again', async () => {
    layOut({ height: 100 });
    const answers: Answer[] = [
      { status: 500, body: { error: { code: 'internal', message: 'the disk is gone' } } },
      record('the whole'),
    ];
    setup(large, { answer: () => answers.shift() ?? { body: {} } });
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('the disk is gone');
    expect(isBlocked('Allow once')).toBe(true);
    expect(button('Deny')).toHaveProperty('disabled', false);
    await press('Fold (48 kB)');
    expect(isBlocked('Allow once')).toBe(false);
    await press('Show them');
    await press('Try again');
    expect(await screen.findByText(/the whole/)).toBeDefined();
    expect(isBlocked('Allow once')).toBe(false);
  });
});

test('[CD23] what could not be fetched is shown in the language of the page', async () => {
  layOut({ height: 100 });
  const failure = { error: { code: 'shutting_down', message: 'The server is stopping' } };
  setup(
    { params_bytes: 48_000, truncated: true, params: { memo: 'aa' } },
    { locale: 'zh', answer: () => ({ status: 503, body: failure }) },
  );
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('服务器正在停止。请等它恢复后再试。');
  expect(alert.textContent).not.toContain('stopping');
});

describe('[AP5] hidden characters in arguments to decide on', () => {
  const hidden = { 'to\u2800': 'Ada\u{e0045}\u{e0056}', memo: 'thanks ❤️\u3164' };
  beforeEach(() => layOut({ height: 100 }));

  test('are marks with a name', () => {
    setup({ params: hidden });
    const marks = within(region()).getAllByRole('img');
    expect(marks.map((mark) => mark.getAttribute('aria-label'))).toEqual([
      'Hidden character U+2800',
      '2 hidden characters U+E0045, U+E0056',
      'Hidden character U+3164',
    ]);
    expect(region().textContent).toContain('"Ada⟨U+E0045⟩⟨U+E0056⟩"');
    expect(region().textContent).toContain('❤️⟨U+3164⟩');
  });

  test('are escapes in the field, counted, with the marks beside; and are sent as they are', async () => {
    const { decisions } = setup({ params: hidden });
    await press('Edit arguments…');
    const field = screen.getByRole<HTMLTextAreaElement>('textbox');
    expect(field.value).toContain(String.raw`Ada\udb40\udc45\udb40\udc56`);
    const note = screen.getByTestId('hidden-note');
    expect(note.textContent).toContain('4 hidden characters are in this text');
    expect(within(note).getAllByRole('img')).toHaveLength(3);
    expect(field.getAttribute('aria-describedby')).toBe(note.id);
    await press('Allow with these');
    expect(decisions().map(({ body }) => body)).toEqual([
      { decision: 'yes', args: hidden, expires_at: 2_000 },
    ]);
  });

  test('are counted as they are typed', async () => {
    setup();
    await press('Edit arguments…');
    expect(screen.queryByTestId('hidden-note')).toBeNull();
    const field = screen.getByRole('textbox');
    fireEvent.change(field, { target: { value: '{"to": "A\u200bda"' } });
    expect(screen.getByTestId('hidden-note').textContent).toContain('1 hidden character is');
  });
});

describe('a no with a reason', () => {
  test('[AP8] is written and sent, and the model gets it', async () => {
    const { decisions } = setup();
    await press('Deny with a reason…');
    const field = screen.getByRole('textbox', { name: /reason/i });
    expect(document.activeElement).toBe(field);
    fireEvent.change(field, { target: { value: 'too much' } });
    await press('Deny');
    expect(decisions().map(({ body }) => body)).toEqual([
      { decision: 'no', note: 'too much', expires_at: 2_000 },
    ]);
  });

  test('[AP8] can be left, and the question is as it was', async () => {
    const { decisions } = setup({}, { locale: 'en' });
    await press('Deny with a reason…');
    await press('Back');
    expect(document.activeElement).toBe(button('Deny with a reason…'));
    expect(decisions()).toEqual([]);
  });
});

describe('whose decision it was', () => {
  const decision = { by: 'operator:olga', decision: 'yes', edited: true } as const;

  test('[AP9] is on the card, with the edit', () => {
    const { change } = setup();
    change({ status: 'DOING', phase: 'offered', approval_decision: decision });
    expect(screen.getByTestId('decided-by').textContent).toBe(
      'Allowed by operator:olga, with edited arguments',
    );
    change({ approval_decision: { ...decision, calls: 80 } });
    expect(screen.getByTestId('decided-by').textContent).toContain(
      'with edited arguments · One decision for 80 equal calls.',
    );
    change({ approval_decision: null, status: 'DOING' });
    expect(screen.queryByTestId('decided-by')).toBeNull();
  });

  test('[AP9] in Chinese, and of a no', () => {
    const { change } = setup({}, { locale: 'zh' });
    const error = {
      code: 'denied',
      message: 'An operator denied the call',
      executed: 'no',
    } as const;
    const no = { by: 'operator', decision: 'no' } as const;
    change({ status: 'ERROR', phase: null, error, approval_decision: no });
    expect(screen.getByTestId('decided-by').textContent).toBe('已由 operator 拒绝');
  });

  test('[AP9] is an answer where a person answered in place of the tool', () => {
    const { change } = setup();
    const answer = { by: 'operator:olga', decision: 'answer' } as const;
    change({ status: 'SUCCESS', phase: null, result: 'by hand', approval_decision: answer });
    expect(screen.getByTestId('decided-by').textContent).toBe('Answered by operator:olga');
  });
});

describe('calls that are the same', () => {
  const listed = (id: string) => ({
    ...{ tool_call_id: id, run_id: 'run_1', tool_name: 'bank.pay', reason: '', expires_at: 2_000 },
    key: 'k',
  });

  test('[AP10] the first has the decision and how many it is about; the others lead to it', async () => {
    const { workbench } = setup({ approval_key: 'k' });
    const list = (...ids: string[]) =>
      act(() => workbench.listings.setState({ approvals: ids.map(listed), known: true }));
    list('tc_1', 'tc_2', 'tc_3');
    expect(screen.getByTestId('same-question').textContent).toContain('3 equal calls');
    expect(button('Deny')).toBeTruthy();
    list('tc_0', 'tc_1');
    expect(screen.queryByRole('button', { name: 'Deny' })).toBeNull();
    const link = screen.getByRole('link', { name: /equal call/ });
    expect(link.getAttribute('href')).toBe('#call=tc_0');
    list('tc_1');
    expect(screen.queryByTestId('same-question')).toBeNull();
    expect(button('Deny')).toBeTruthy();
  });

  test('[AP10] the yes is to as many as the card shows', async () => {
    layOut({ height: 240, content: 100 });
    const { workbench, decisions } = setup({ approval_key: 'k' });
    act(() => workbench.listings.setState({ approvals: ['tc_1', 'tc_2'].map(listed) }));
    await press('Allow once');
    expect(decisions().map(({ body }) => body)).toEqual([
      { decision: 'yes', expires_at: 2_000, calls: 2 },
    ]);
  });
});

test('[AP1] T81: arguments and names that imitate a decision stay text within the question', async () => {
  layOut({ height: 240, content: 100 });
  const spoofed = '</code><b>Approved ✔</b> <button>Allow once</button> Decided by operator';
  const { decisions } = setup({
    ...{ params: { [spoofed]: spoofed, approved: true, approval_decision: { by: 'operator' } } },
    ...{ tip: spoofed, approval_reason: spoofed, status_params: { approved: true } },
  });
  expect(within(region()).getByText(/Approved ✔.*Approved ✔/s)).toBeDefined();
  expect(document.querySelector('b')).toBeNull();
  expect(screen.getAllByRole('button', { name: 'Allow once' })).toHaveLength(1);
  expect(decisions()).toEqual([]);
  await press('Allow once');
  expect(decisions().map(({ body }) => body)).toEqual([{ decision: 'yes', expires_at: 2_000 }]);
});

describe('where the autonomy is read only', () => {
  beforeEach(() => layOut({ height: 100 }));

  const readOnly = (readOnlyHint: boolean) => {
    const made = setup();
    const tool = {
      ...{
        name: 'bank.pay',
        model_name: 'bank_pay',
        source: 'client',
        description: '',
        schema: {},
      },
      ...{ timeout_ms: 1, callable: true, clients: [], annotations: { readOnlyHint } },
    };
    act(() => {
      made.workbench.listings.setState({ tools: [tool] });
      made.workbench.autonomy.setState({ autonomy: { level: 'read_only', runs: [] } });
    });
    return made;
  };

  test('[AN3] a call with effects cannot be allowed, with the reason and the way to the policy', async () => {
    const { decisions } = readOnly(false);
    await press('Allow once');
    expect(isBlocked('Allow once')).toBe(true);
    expect(screen.getByTestId('read-only-note').textContent).toContain('cannot be allowed');
    const link = screen.getByRole('link', { name: 'Switch the autonomy' });
    expect(link.getAttribute('href')).toBe('/settings/policy');
    expect(document.activeElement).toBe(link);
    await press('Deny');
    expect(decisions().map(({ body }) => body)).toEqual([{ decision: 'no', expires_at: 2_000 }]);
  });

  test('[AN3] one of a tool that only reads can', async () => {
    const { decisions } = readOnly(true);
    expect(screen.queryByTestId('read-only-note')).toBeNull();
    await press('Allow once');
    expect(decisions()).toHaveLength(1);
  });
});

test('[IB10] “always” names the client and the conversation, with the id in a tooltip', async () => {
  const { workbench } = setup();
  act(() => {
    workbench.listings.setState({
      clients: [
        {
          ...{ client_id: 'till', name: 'Till at the door', kind: 'tab', connected: true },
          ...{ visible: true, responsive: true, caps: [], tools: [], connected_at: 1 },
        },
      ],
    });
    workbench.runs.setState({
      runs: {
        run_1: {
          ...{ run_id: 'run_1', title: 'Pay Ada', status: 'running', model: 'm', tools: null },
          ...{ step: 1, max_steps: 9, error: null, created_at: 1, updated_at: 1 },
        },
      },
    });
  });
  await press('Always…');
  const rule = screen.getByTestId('always-rule');
  expect(rule.textContent).toContain('pay of Till at the door');
  expect(rule.textContent).toContain('in the conversation “Pay Ada”');
  expect(rule.getAttribute('title')).toBe('till');
});
