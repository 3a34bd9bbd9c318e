// @vitest-environment happy-dom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import type { Role } from '#lib/protocol/role';
import type { WireToken } from '#lib/protocol/token';
import type { ToolListing } from '#lib/protocol/tool-spec';
import {
  type Answer,
  createTestWorkbench,
  personWith,
  press,
  renderIn,
  type SentRequest,
} from '../tool-call/testing/in-workbench.tsx';
import { AccessPage } from './access-page.tsx';

const tokenOf = (more: Partial<WireToken>): WireToken => ({
  ...{ id: 'tok_bot', kind: 'agent', name: 'bot', role: null, tools: ['file.*'], client_id: null },
  ...{ built_in: false, created_at: 86_400, created_by: 'operator', last_used_at: null },
  ...{ revoked_at: null },
  ...more,
});

const FIRST = tokenOf({
  ...{ id: 'first_run', kind: 'operator', name: 'operator', role: 'admin', tools: null },
  ...{ built_in: true, created_at: null, created_by: null },
});
const BOT = tokenOf({});
const OLGA = tokenOf({
  ...{ id: 'tok_olga', kind: 'operator', name: 'olga', role: 'admin', tools: null },
  last_used_at: 172_800,
});

const listOf = (...tokens: WireToken[]): Answer => ({ body: { tokens, next_cursor: null } });

const toolOf = (name: string): ToolListing => ({
  ...{ name, model_name: name, source: 'server', description: '', schema: {}, timeout_ms: 1 },
  ...{ clients: [], callable: true },
});

async function setup(
  answer: (request: SentRequest) => Answer = () => listOf(FIRST, OLGA, BOT),
  { role = 'admin', locale = 'en' }: { role?: Role; locale?: 'en' | 'zh' } = {},
) {
  const { workbench, sent } = createTestWorkbench(answer);
  workbench.me.setState({ me: personWith(role) });
  workbench.listings.setState({ tools: ['file.read', 'file.write', 'clock'].map(toolOf) });
  await act(async () => void renderIn(workbench, <AccessPage />, locale));
  return { workbench, sent };
}

const row = (name: string) => screen.getByRole('article', { name });
const name = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Name' });
const typeName = (value: string) => fireEvent.change(name(), { target: { value } });

test('each token has its name, what it allows, and its times', async () => {
  await setup(() => listOf(FIRST, OLGA, BOT, tokenOf({ name: 'old', id: 'x', revoked_at: 9 })));
  expect(row('bot').textContent).toMatch(/program.*file\.\*.*made .* by operator · never used/);
  expect(row('olga').textContent).toMatch(/administratorYou.*last used/);
  expect(row('operator').textContent).toContain('Token of the first run');
  expect(within(row('operator')).queryByRole('button')).toBeNull();
  expect(row('old').textContent).toMatch(/Revoked.*revoked /);
  expect(within(row('old')).queryByRole('button')).toBeNull();
  expect(screen.getByText('That is all.')).toBeDefined();
});

test.each<Role>(['viewer', 'operator'])('a %s reads that an administrator may', async (role) => {
  const { sent } = await setup(undefined, { role });
  expect(screen.getByText(/^This page is for administrators\. Signed in as olga/)).toBeDefined();
  expect(screen.queryByRole('button')).toBeNull();
  expect(sent).toEqual([]);
});

test('more tokens come by pages, and the focus stays in the list after the last', async () => {
  await setup(({ path }) =>
    path === '/v1/tokens'
      ? { body: { tokens: [FIRST, OLGA], next_cursor: 'tok_olga' } }
      : path.endsWith('?cursor=tok_olga')
        ? listOf(BOT)
        : { status: 500, body: {} },
  );
  expect(screen.queryByRole('article', { name: 'bot' })).toBeNull();
  await press('Show more');
  expect(row('bot')).toBeDefined();
  expect(document.activeElement?.textContent).toBe('That is all.');
});

test('a list that does not come shows why, and can be asked for again', async () => {
  let isDown = true;
  await setup(() => (isDown ? { status: 500, body: {} } : listOf(FIRST)));
  expect(screen.getByRole('alert').textContent).not.toBe('');
  isDown = false;
  await press('Try again');
  expect(row('operator')).toBeDefined();
});

const SECRET = 'cb_agent_0123456789';

test('a token for a program is made with its allow-list, and its secret is shown once', async () => {
  const writeText = vi.fn(async () => {});
  vi.stubGlobal('navigator', Object.create(navigator, { clipboard: { value: { writeText } } }));
  const made = tokenOf({ name: 'helper', id: 'tok_helper', tools: ['file.*', 'clock'] });
  const { sent } = await setup(({ body }) =>
    body ? { status: 201, body: { ...made, secret: SECRET } } : listOf(FIRST, BOT),
  );
  await press('New token');
  expect(document.activeElement).toBe(name());
  typeName('helper');
  fireEvent.click(screen.getByRole('checkbox', { name: /^file\.\*/ }));
  expect(screen.getByRole<HTMLInputElement>('checkbox', { name: /^file\.read/ }).checked).toBe(
    true,
  );
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'clo' } });
  fireEvent.click(screen.getByRole('checkbox', { name: 'clock' }));
  expect(screen.getByText('2 entries are chosen.')).toBeDefined();
  await press('Create');
  expect(sent.at(-1)).toEqual({
    path: '/v1/tokens',
    body: { kind: 'agent', name: 'helper', tools: ['file.*', 'clock'] },
  });
  expect(document.activeElement?.textContent).toBe('The token of helper');
  expect(screen.getByText(/^Copy it now\. It is shown this once/)).toBeDefined();
  expect(screen.getByRole('textbox', { name: 'Token' })).toHaveProperty('value', SECRET);
  await press('Copy');
  expect(writeText).toHaveBeenCalledWith(SECRET);
  expect(screen.getByText('Copied.')).toBeDefined();
  await press('Done, hide it');
  expect(document.body.innerHTML).not.toContain(SECRET);
  expect(document.activeElement?.textContent).toBe('New token');
  const names = screen.getAllByRole('article').map((one) => one.dataset.name);
  expect(names).toEqual(['operator', 'helper', 'bot']);
});

test('a token for a person has a role, and where it signs in is shown', async () => {
  const made = tokenOf({ kind: 'operator', name: 'vera', role: 'viewer', tools: null });
  const { sent } = await setup(({ body }) =>
    body ? { status: 201, body: { ...made, secret: 'cb_op_1' } } : listOf(FIRST),
  );
  await press('New token');
  fireEvent.click(screen.getByRole('radio', { name: /^a person/ }));
  expect(screen.queryByRole('checkbox')).toBeNull();
  fireEvent.click(screen.getByRole('radio', { name: /^viewer/ }));
  typeName('vera');
  await press('Create');
  expect(sent.at(-1)?.body).toEqual({ kind: 'operator', name: 'vera', role: 'viewer' });
  expect(screen.getByText(/It signs in at .*\/sign-in/)).toBeDefined();
});

test('a name that is none is not sent, and one that is taken is explained', async () => {
  const { sent } = await setup(({ body }) =>
    body
      ? { status: 409, body: { error: { code: 'conflict', message: 'Taken.' } } }
      : listOf(FIRST),
  );
  await press('New token');
  typeName('a b');
  await press('Create');
  expect(sent).toHaveLength(1);
  expect(screen.getByRole('alert').textContent).toMatch(/^This is not a name/);
  expect(document.activeElement).toBe(name());
  typeName('bot');
  await press('Create');
  expect(screen.getByRole('alert').textContent).toMatch(/^This name is taken/);
  expect(name().value).toBe('bot');
});

test('a token is revoked after a question, and the row that stays has the focus', async () => {
  const { sent } = await setup(({ path }) =>
    path === '/v1/tokens' ? listOf(FIRST, OLGA, BOT) : { body: { ...BOT, revoked_at: 9 } },
  );
  await press('Revoke…', row('bot'));
  expect(document.activeElement?.textContent).toBe('Keep it');
  await press('Keep it', row('bot'));
  expect(document.activeElement?.textContent).toBe('Revoke…');
  expect(sent).toHaveLength(1);
  await press('Revoke…', row('bot'));
  await press('Revoke', row('bot'));
  expect(sent.at(-1)?.path).toBe('/v1/tokens/tok_bot');
  expect(row('bot').textContent).toContain('Revoked');
  expect(document.activeElement).toBe(row('bot'));
});

test('revoking one’s own token is asked about as such', async () => {
  await setup();
  await press('Revoke…', row('olga'));
  expect(screen.getByRole('group', { name: 'Revoke the token of olga?' }).textContent).toContain(
    'you are signed out at once',
  );
});
