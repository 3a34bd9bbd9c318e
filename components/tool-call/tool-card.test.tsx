// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import type { CallErrorCode } from '#lib/protocol/call-status';
import type { Card } from '#lib/protocol/card';
import type { CardActions } from './card-actions.ts';
import { createTicker, TickerContext } from './card-clock.tsx';
import { createTestWorkbench, renderIn } from './testing/in-workbench.tsx';
import { layOut } from './testing/layout.ts';
import { ToolCard } from './tool-card.tsx';

// A page has a layout; here everything fits, as short arguments do.
beforeEach(() => void layOut({ height: 100 }));
const cardOf = (more: Partial<Card>): Card => ({
  params: { facing: 'environment' },
  tool_name: 'camera.photo',
  source: 'client',
  client_id: 'cl_1',
  client_name: 'iPhone 15',
  created_at: 1_000,
  started_at: 1_000,
  timeout_ms: 30_000,
  ...more,
});

const failed = (code: CallErrorCode, executed: 'no' | 'yes' | 'unknown', more: object = {}) =>
  cardOf({
    status: 'ERROR',
    completed_at: 1_030,
    error: { code, executed, message: 'the words of the server', ...more },
  });

/** The time is 1,010 s and moves by `tick`. */
function setup(
  card: Card,
  more: { isStale?: boolean; isAsked?: boolean; lostAt?: number; locale?: 'en' | 'zh' } = {},
) {
  const asked: unknown[] = [];
  const clock = { now: 1_010_000, ticks: new Set<() => void>() };
  const ticker = createTicker({
    now: () => clock.now,
    every: (_ms, run) => {
      clock.ticks.add(run);
      return () => clock.ticks.delete(run);
    },
  });
  const actions: CardActions = {
    cancel: async (id) => asked.push(['cancel', id]) > 0,
    retry: (id) => asked.push(['retry', id]),
    extend: (id) => asked.push(['extend', id]),
    showClients: (id) => asked.push(['showClients', id]),
    decide: async (id, input) => asked.push(['decide', id, input]) > 0,
    answer: async (id, given) => asked.push(['answer', id, given]) > 0,
    copy: (id, kind) => asked.push(['copy', id, kind]),
    showModelOutput: (id) => asked.push(['model', id]),
    showWhole: (id, part) => asked.push(['whole', id, part]),
    download: (id, part) => asked.push(['download', id, part]),
    blobUrl: (id) => `/v1/blobs/${id}`,
  };
  const { workbench } = createTestWorkbench();
  const { locale = 'en', lostAt = null, ...props } = more;
  workbench.connection.setState({ lostAt });
  renderIn(
    workbench,
    <TickerContext value={ticker}>
      <ToolCard callId="tc_1" seq={7} card={card} actions={actions} {...props} />
    </TickerContext>,
    locale,
  );
  const tick = (ms: number) => {
    clock.now += ms;
    for (const run of clock.ticks) run();
  };
  const article = screen.getByRole('article', { name: card.tool_name ?? '' });
  return { article, asked, tick, time: () => screen.getByTestId('card-time').textContent, clock };
}

describe('[MP45] which program asked', () => {
  test.each(['en', 'zh'] as const)('is at the head of the card of its call: %s', (locale) => {
    const { article } = setup(cardOf({ status: 'DOING', requested_by: 'agent:coder' }), { locale });
    const head = within(article).getByTestId('agent-chip');
    expect(head.querySelector('[aria-hidden]:not(svg)')?.textContent).toBe('coder');
    expect(head.querySelector('.sr-only')?.textContent).toBe(
      { en: 'Called by the agent coder', zh: '由智能体 coder 调用' }[locale],
    );
  });

  test.each([undefined, 'operator', 'run:run_1', 'device:cl_1'])('%s is no program', (caller) => {
    setup(cardOf({ status: 'DOING', ...(caller ? { requested_by: caller } : {}) }));
    expect(screen.queryByTestId('agent-chip')).toBeNull();
  });
});

const waits = (phase: Card['phase'], more: Partial<Card> = {}) =>
  cardOf({ status: 'WAIT', phase, ...more });
const runs = (phase: Card['phase'], more: Partial<Card> = {}) =>
  cardOf({ status: 'DOING', phase, ...more });
const late = (executed: 'no' | 'unknown', clock: string) => failed('timeout', executed, { clock });
const expired = failed('approval_expired', 'no', { params: { seconds: '600' } });
const NO_ONE = { client_id: null, client_name: null };
const ASKS = { approval_reason: 'It takes a photo.' };
const AWAY = { clock: { name: 'resume', deadline_at: 1_100 } } as const;
const BLOCKED = { client_code: 'permission_denied' };

describe('every view shows what is going on', () => {
  test.each<[string, Card, string, string]>([
    ['streaming', waits('streaming'), 'Waiting', 'is writing'],
    ['queued', waits('queued', NO_ONE), 'Waiting', 'Waiting for any client that offers it.'],
    ['approval', waits('approval', ASKS), 'Needs approval', 'It takes a photo.'],
    ['offered', runs('offered'), 'Sent', 'Sent to iPhone 15, not taken yet.'],
    ['running', runs('granted', { tip: 'Encoding…' }), 'Running', 'Encoding…'],
    [
      'device',
      runs('device'),
      'Asking',
      'A person at iPhone 15 is being asked; the clock is paused.',
    ],
    ['away', runs('granted', AWAY), 'Client away', 'may still be running there'],
    [
      'cancelling',
      runs('cancelling'),
      'Stopping',
      'Asked iPhone 15 to stop; waiting for its answer.',
    ],
    ['held', waits('held'), 'Waits its turn', 'Other questions come first.'],
    ['expired', expired, 'Expired', 'Nobody decided within 10 min. It did not run.'],
    ['done', cardOf({ status: 'SUCCESS', tip: 'Got it.', result: 1 }), 'Done', 'Got it.'],
    ['failed', failed('tool_error', 'yes'), 'Failed', 'the words of the server'],
    ['failed', failed('tool_error', 'yes', BLOCKED), 'Failed', 'site settings'],
    ['invalid', failed('invalid_args', 'no'), 'Invalid arguments', 'the words of the server'],
    ['denied', failed('denied', 'no'), 'Denied', 'It did not run.'],
    ['expired', failed('approval_expired', 'no'), 'Expired', 'Nobody decided in time.'],
    ['cancelled', failed('cancelled', 'unknown'), 'Cancelled', 'It may have run.'],
    ['noProvider', failed('no_provider', 'no'), 'No client', 'No client offers this tool'],
    ['disconnected', failed('client_disconnected', 'no'), 'Disconnected', 'It did not run.'],
    ['unknown', failed('outcome_unknown', 'unknown'), 'Outcome unknown', 'It may have run.'],
    ['unknown', failed('interrupted', 'unknown'), 'Outcome unknown', 'server was restarted'],
    ['badResult', failed('result_too_large', 'yes'), 'Result rejected', 'It ran.'],
    ['badResult', failed('result_invalid', 'yes'), 'Result rejected', 'not a valid result'],
    ['timeout', late('unknown', 'execute'), 'Timed out', 'No answer within 30 s. It may have run.'],
    ['timeout', late('no', 'queue'), 'Timed out', 'No client took the call in time.'],
  ])('%s (%#)', (kind, card, chip, words) => {
    const { article } = setup(card);
    const attribute = (name: string) => article.getAttribute(`data-${name}`);
    expect(attribute('testid')).toBe('tool-card');
    expect(attribute('call-id')).toBe('tc_1');
    expect(attribute('seq')).toBe('7');
    expect(attribute('status')).toBe(card.status);
    expect(attribute('phase')).toBe(card.phase ?? '');
    expect(attribute('look')).toBe(kind);
    expect(screen.getByTestId('status-chip').textContent).toBe(chip);
    expect(article.textContent).toContain(words);
  });
});

describe('arguments', () => {
  test('appear key by key while they are written, the last one with a caret', () => {
    const card = waits('streaming', {
      partial: true,
      params: { path: 'notes.md', content: 'Dear a' },
    });
    const { article } = setup(card);
    const values = [...article.querySelectorAll('dd')];
    expect(values.map((value) => value.textContent)).toEqual(['notes.md', 'Dear a']);
    expect(values.map((value) => value.querySelector('[aria-hidden]') !== null)).toEqual([
      false,
      true,
    ]);
    expect(within(article).queryByRole('button', { name: 'Cancel' })).toBeNull();
  });
});

describe('what a client reports', () => {
  test('[CD22] is beside the arguments, and never among them', () => {
    const params = { to: 'Ann', amount: 5, lens: 'wide' };
    setup(
      runs('granted', {
        params,
        argument_names: ['to', 'amount'],
        status_params: { amount: 1, lens: 'wide' },
      }),
    );
    // Open or not: the part with its button.
    const shown = (name: RegExp) => screen.getByRole('button', { name }).parentElement?.textContent;
    const [own, reported] = [shown(/^Arguments/), shown(/^Reported by the client/)];
    expect(own).toMatch(/Ann.*5/);
    expect(own).not.toContain('wide');
    expect(reported).toMatch(/1.*wide/);
  });
});

describe('clocks', () => {
  const running = runs('granted', {
    clock: { name: 'execute', deadline_at: 1_030 },
  });

  test('show elapsed against the limit, and warn near the end', () => {
    const { time, tick } = setup(running);
    expect(time()).toBe('running 10.0 s of 30 s');
    tick(14_000);
    expect(time()).toBe('running 24.0 s of 30 s · times out in 6 s');
    expect(screen.getByTestId('card-time').hasAttribute('data-late')).toBe(true);
  });

  test.each([
    ['en', 'sent; 0:04 left to take it'],
    ['zh', '已询问；接手还剩 0:04'],
  ] as const)('[CD9] show in %s how long a client has to take it', (locale, text) => {
    const clock = { name: 'start', deadline_at: 1_014 } as const;
    const card = runs('offered', { clock });
    const { time } = setup(card, locale === 'zh' ? { locale } : {});
    expect(time()).toBe(text);
  });

  test.each([
    ['en', 'running 10.0 s of 30 s (counted here; offline since 12:16 AM)'],
    ['zh', '已执行 10.0 秒，限时 30 秒（在本地计时；自 00:16 起离线）'],
  ] as const)('[CD36] count on in %s without a connection, and show since when', (locale, text) => {
    const lostAt = new Date(2026, 0, 1, 0, 16).getTime();
    const { time, tick, article } = setup(running, { isStale: true, lostAt, locale });
    expect(time()).toBe(text);
    expect(article.hasAttribute('data-stale')).toBe(true);
    tick(5_000);
    expect(time()).toContain('15.0');
  });

  test('[CD36] an approval runs out on the page too, while the connection is lost', () => {
    const clock = { name: 'approval', deadline_at: 1_012 } as const;
    const asks = waits('approval', { clock });
    const { time, tick } = setup(asks, { isStale: true });
    expect(time()).toBe('0:02 left to decide (counted here)');
    tick(5_000);
    expect(time()).toBe('0:00 left to decide (counted here)');
  });

  test('do not run on a final card', () => {
    const { clock, time } = setup(cardOf({ status: 'SUCCESS', completed_at: 1_000.812 }));
    expect(clock.ticks.size).toBe(0);
    expect(time()).toBe('ran 812 ms');
  });
});

describe('progress', () => {
  const bar = () => screen.getByRole('progressbar', { name: 'Progress of camera.photo' });

  test('is a share where the total is known', () => {
    setup(runs('granted', { progress: { done: 2, total: 3 } }));
    expect(bar().getAttribute('aria-valuenow')).toBe('66');
  });

  test('is never a percentage where it is not', () => {
    const card = runs('granted', { progress: { done: 40 } });
    const { article } = setup(card);
    expect(bar().hasAttribute('aria-valuenow')).toBe(false);
    expect(article.textContent).toContain('40 so far');
  });
});

describe('approval', () => {
  const approval = waits('approval');
  const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));

  test('shows the arguments and takes no focus', () => {
    const { article } = setup(approval);
    expect(article.textContent).toContain('{ "facing": "environment" }');
    expect(document.activeElement).toBe(document.body);
  });

  test.each([
    ['Allow once', 'yes'],
    ['Deny', 'no'],
  ] as const)('%s decides %s, once', async (name, decision) => {
    const { asked } = setup(approval);
    press(name);
    await act(async () => press(name));
    expect(asked).toEqual([['decide', 'tc_1', { decision }]]);
  });

  test('can be given with other arguments, which must be a JSON object', async () => {
    const { asked } = setup(approval);
    press('Edit arguments…');
    const field = screen.getByRole('textbox', { name: 'Arguments to allow' });
    fireEvent.change(field, { target: { value: '[1]' } });
    expect(screen.getByRole('alert').textContent).toContain('one JSON object');
    press('Allow with these');
    expect(asked).toEqual([]);
    fireEvent.change(field, { target: { value: '{"facing": "user"}' } });
    await act(async () => press('Allow with these'));
    expect(asked).toEqual([['decide', 'tc_1', { decision: 'yes', args: { facing: 'user' } }]]);
  });
});

describe('results', () => {
  test.each<[unknown, string]>([
    [0, '0'],
    [false, 'false'],
    [null, 'null'],
    ['', '""'],
    [[], '[]'],
    [{}, '{}'],
  ])('[CD11] %j is shown as itself', (result, text) => {
    setup(cardOf({ status: 'SUCCESS', result }));
    expect(screen.getByTestId('result').textContent).toContain(text);
    expect(screen.queryByText('Completed, returned nothing.')).toBeNull();
  });

  test('[CD11] a missing one is shown as nothing', () => {
    setup(cardOf({ status: 'SUCCESS' }));
    expect(screen.getByTestId('result').textContent).toBe('Completed, returned nothing.');
  });

  test('a late answer is marked', () => {
    const card = { ...late('unknown', 'execute'), late_result: true };
    const { article } = setup(card);
    expect(article.textContent).toContain('An answer arrived after the call had ended');
  });
});

test('[CD32] what hooks did to a call is on its card, with names that do not show marked', () => {
  const hooks: Card['hooks'] = [
    { name: 'first', did: 'changed_arguments', keys: ['to', 'c\u202ec'] },
    { name: 'guard', did: 'failed' },
  ];
  setup(runs('granted', { hooks }));
  const text = screen.getByTestId('card-hooks').textContent ?? '';
  expect(text).toContain('The hook first changed arguments: to, c');
  expect(text).toContain('The hook guard failed');
  expect(text).not.toContain('\u202e');
});

describe('an unknown outcome', () => {
  const cause = (message: string) => {
    cleanup();
    setup(failed('outcome_unknown', 'unknown', { message }));
    return screen.getByTestId('card-cause').textContent ?? '';
  };

  test('[CD19] is shown by the reason that the server gives, whatever its words are', () => {
    const words = (code: CallErrorCode, reason: string) => {
      cleanup();
      setup(failed(code, 'unknown', { message: 'Other words', reason }));
      return screen.getByTestId('card-cause').textContent;
    };
    expect(words('outcome_unknown', 'client_left')).toContain('disconnected during the call');
    expect(words('outcome_unknown', 'client_revoked')).toContain('was revoked during the call');
    expect(words('client_disconnected', 'client_revoked')).toContain('was revoked during the call');
    expect(words('outcome_unknown', 'client_back')).toContain('came back and cannot tell');
    expect(words('no_provider', 'not_offered')).toContain('not offered');
    expect(words('no_provider', 'no_name')).toContain('without naming a tool');
    expect(words('denied', 'too_many_calls')).toContain('more calls than may run');
    expect(words('denied', 'too_many_approvals')).toContain('waited already');
    expect(words('denied', 'rate_limited')).toContain('as many such calls');
    expect(words('invalid_args', 'arguments_unreadable')).toContain('not one JSON object');
    expect(words('invalid_args', 'arguments_incomplete')).toContain('before the arguments');
    expect(words('denied', 'toString')).toContain('The call was denied.');
  });

  test('[CD19] is shown as that of a client that left only when it never came back', () => {
    expect(cause('The client left and did not come back within 60 s')).toContain(
      'iPhone 15 disconnected during the call.',
    );
    const back = cause('The client came back, and can no longer tell whether the tool ran');
    expect(back).toContain('iPhone 15 came back and cannot tell whether the tool ran.');
    expect(back).not.toContain('left');
    expect(cause('gate.open had started when this client ended.')).toContain(
      'iPhone 15 cannot tell whether the tool ran.',
    );
  });
});

describe('what can be done', () => {
  const click = (name: string) => fireEvent.click(screen.getByRole('button', { name }));

  test('a failed call is retried, with a warning where it may have run', () => {
    const first = setup(failed('no_provider', 'no'));
    click('Retry');
    expect(first.asked).toEqual([['retry', 'tc_1']]);
    cleanup();
    setup(failed('outcome_unknown', 'unknown'));
    expect(screen.getByRole('button', { name: 'Retry (may run twice)' })).toBeDefined();
  });

  test('[CD16] more time is in the menu from the start, by keyboard too', async () => {
    const clock = { name: 'execute', deadline_at: 1_039 } as const;
    const { asked } = setup(runs('granted', { clock }));
    const menu = screen.getByRole('button', { name: 'More for camera.photo' });
    fireEvent.keyDown(menu, { key: 'Enter' });
    const item = await screen.findByRole('menuitem', { name: '30 s more' });
    fireEvent.keyDown(item, { key: 'Enter' });
    expect(asked).toEqual([['extend', 'tc_1']]);
  });

  test('a running call is cancelled; once asked, not again', () => {
    const { asked } = setup(runs('granted'));
    click('Cancel');
    expect(asked).toEqual([['cancel', 'tc_1']]);
    cleanup();
    setup(runs('granted'), { isAsked: true });
    expect(screen.getByRole('button', { name: 'Asked to stop' })).toHaveProperty('disabled', true);
  });

  test('names and tips from a tool cannot hide characters', () => {
    const card = runs('granted', { tip: 'safe\u202egpj.exe' });
    const { article } = setup(card);
    expect(article.textContent).toContain('safe⟨U+202E⟩gpj.exe');
  });
});

test('[CD34] of a call that is asked about for several reasons each has a line', () => {
  setup(
    cardOf({
      ...{ status: 'WAIT', phase: 'approval', approval_reason: 'To 12 people. x' },
      approval_reasons: [
        { code: 'hook', text: 'To 12 people' },
        { code: 'destructive', text: 'x' },
      ],
    }),
  );
  const lines = within(screen.getByTestId('approval-reasons')).getAllByRole('listitem');
  expect(lines.map(({ textContent }) => textContent)).toEqual([
    'To 12 people',
    expect.stringMatching(/^camera\.photo may/),
  ]);
});
