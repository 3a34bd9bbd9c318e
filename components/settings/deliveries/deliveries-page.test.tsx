// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { WireDelivery, WireTarget } from '#lib/protocol/notify';
import type { Role } from '#lib/protocol/role';
import {
  type Answer,
  createTestWorkbench,
  personWith,
  press,
  renderIn,
  type SentRequest,
} from '../../tool-call/testing/in-workbench.tsx';
import { DeliveriesPage } from './deliveries-page.tsx';

const TARGET: WireTarget = {
  ...{ id: 'webhook:ops', state: 'on', slowed_until: null, off_since: null, failures_in_row: 0 },
  ...{ open: 2, host: 'receiver.example', events: ['approval.requested', 'run.finished'] },
};
const OFF: WireTarget = {
  ...{ ...TARGET, id: 'slack:team', state: 'off', off_since: 86_400 },
  ...{ failures_in_row: 3, open: 0 },
};
const LIMITS = { open_per_target: 1_000, attempts: 10, kept_days: 14, kept: 5_000 };
const WAITS: WireDelivery = {
  ...{ id: 'dlv_2', notice_id: 'evt_2', type: 'approval.requested', target: 'webhook:ops' },
  ...{ state: 'open', attempts: 1, made_at: 1, tried_at: 2, next_at: 86_400, status: 500 },
  ...{ error: 'HTTP 500', about: 'pay\u202e.now', link: '/#call=tc_2' },
};
const SENT: WireDelivery = {
  ...{ ...WAITS, id: 'dlv_1', type: 'run.finished', state: 'delivered', status: 204 },
  ...{ next_at: null, error: null, about: 'Pay the bill', link: '/?run=run_1' },
};

async function setup(
  more: (request: SentRequest) => Answer | undefined = () => undefined,
  { role = 'operator', locale = 'en' }: { role?: Role; locale?: 'en' | 'zh' } = {},
) {
  const { workbench, sent } = createTestWorkbench((request) => {
    const given = more(request);
    if (given) return given;
    if (request.path === '/v1/notify/targets') {
      return { body: { targets: [TARGET, OFF], limits: LIMITS } };
    }
    if (request.path.startsWith('/v1/notify/deliveries')) {
      return { body: { deliveries: [WAITS, SENT], next_cursor: null } };
    }
    return { status: 500, body: {} };
  });
  workbench.me.setState({ me: personWith(role) });
  await act(async () => void renderIn(workbench, <DeliveriesPage />, locale));
  return sent;
}

const texts = (id: string) => screen.queryAllByTestId(id).map(({ textContent }) => textContent);

test('the page shows how each target does, and what was sent with its end', async () => {
  await setup();
  const [ops, team] = texts('notify-target');
  expect(ops).toMatch(
    /^webhook:opsonreceiver\.example · Approval requested, Turn finished · 2 wait/,
  );
  expect(team).toMatch(/off since .*1970.*\(410\).* · 3 failures in a row/);
  const [waits, sent] = texts('delivery');
  expect(waits).toMatch(
    /^Approval requested.*waitswebhook:ops · .* · 1 attempt · next at [^H]*HTTP 500Try now$/,
  );
  expect(sent).toMatch(/^Turn finishedPay the billdelivered.*HTTP 204Send again$/);
  expect(screen.getByRole('link', { name: 'Pay the bill' }).getAttribute('href')).toBe(
    '/?run=run_1',
  );
  expect(screen.getByText(/At most 1,000 wait for one target.* 14 days, 5,000/)).toBeDefined();
});

test('a person tests a target, turns one on again, and sends one delivery again', async () => {
  const answers: Record<string, object> = {
    '/v1/notify/targets/webhook%3Aops/test': { ...SENT, id: 'dlv_3', about: 'A test' },
    '/v1/notify/targets/slack%3Ateam/enable': { ...OFF, state: 'on', off_since: null },
    '/v1/notify/deliveries/dlv_1/resend': { ...SENT, state: 'open' },
  };
  const sent = await setup(({ path }) => answers[path] && { body: answers[path] });
  await press('Send a test webhook:ops');
  expect(texts('delivery')[0]).toContain('A test');
  await press('Turn on again slack:team');
  expect(texts('notify-target')[1]).toMatch(/^slack:teamon/);
  expect(screen.queryByRole('button', { name: /Turn on again/ })).toBeNull();
  await press('Send again: Turn finished Pay the bill · webhook:ops');
  expect(texts('delivery')[2]).toContain('waits');
  expect(sent.map(({ path }) => path).filter((path) => path in answers)).toEqual(
    Object.keys(answers),
  );
});

test('two clicks on a button are one request', async () => {
  const sent = await setup();
  const button = screen.getByRole('button', { name: 'Send a test webhook:ops' });
  await act(async () => {
    fireEvent.click(button);
    fireEvent.click(button);
  });
  expect(sent.filter(({ path }) => path.endsWith('/test')).length).toBe(1);
});

test('what a person asks for and the server refuses is shown', async () => {
  const refusal = { error: { code: 'not_found', message: 'There is no target' } };
  await setup(({ path }) => (path.endsWith('/test') ? { status: 404, body: refusal } : undefined));
  await press('Send a test webhook:ops');
  expect(texts('delivery').length).toBe(2);
});

test('a viewer reads all of it, and changes nothing', async () => {
  await setup(undefined, { role: 'viewer' });
  expect(texts('notify-target').length).toBe(2);
  expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual([
    'Look again',
  ]);
});

test('without targets the page shows how to have one', async () => {
  await setup(({ path }) =>
    path === '/v1/notify/targets'
      ? { body: { targets: [], limits: LIMITS } }
      : { body: { deliveries: [], next_cursor: null } },
  );
  expect(screen.getByText(/there are no targets/)).toBeDefined();
  const example = screen.getByRole('region', { name: 'callboard.config.json' });
  const { notify } = JSON.parse(example.textContent ?? '');
  expect(Object.keys(notify)).toEqual(['ops', 'team', 'phone']);
  expect(screen.queryByRole('heading', { name: 'Last deliveries' })).toBeNull();
});

test('without an answer of the server the page says why, and asks again on demand', async () => {
  const sent = await setup(() => ({ status: 503, body: {} }));
  expect(screen.queryAllByRole('alert').length).toBe(2);
  const before = sent.length;
  await press('Look again');
  expect(sent.length).toBe(before + 2);
});

const nextReading = () => act(() => vi.advanceTimersByTimeAsync(3_000));

test('[OB50] what another person or the server changes is shown without a click, also on a list with further pages', async () => {
  vi.useFakeTimers();
  let first = [WAITS, SENT];
  const older = { ...SENT, id: 'dlv_0', about: 'An older one' };
  await setup(({ path }) => {
    if (!path.startsWith('/v1/notify/deliveries')) return undefined;
    if (path.includes('cursor=')) return { body: { deliveries: [older], next_cursor: null } };
    return { body: { deliveries: first, next_cursor: 'more' } };
  });
  await press('Show more');
  first = [{ ...SENT, id: 'dlv_3', about: 'A new one' }, { ...WAITS, state: 'delivered' }, SENT];
  await nextReading();
  const [added, ended, sent, last] = texts('delivery');
  expect(added).toContain('A new one');
  expect(ended).toContain('delivered');
  expect(sent).toContain('Pay the bill');
  expect(last).toContain('An older one');
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
});

test('[OB50] without an answer what was read before stays, with the reason, until there is one', async () => {
  vi.useFakeTimers();
  let isAway = false;
  await setup(() => (isAway ? { status: 503, body: {} } : undefined));
  isAway = true;
  await press('Look again');
  expect(screen.queryAllByRole('alert').length).toBe(2);
  expect(texts('notify-target').length).toBe(2);
  expect(texts('delivery').length).toBe(2);
  isAway = false;
  await nextReading();
  expect(screen.queryAllByRole('alert').length).toBe(0);
});
