// @vitest-environment happy-dom
import { act, fireEvent, render, screen } from '@testing-library/react';
import { NuqsTestingAdapter } from 'nuqs/adapters/testing';
import { afterEach, expect, test, vi } from 'vitest';
import type { WireAuditEntry } from '#lib/protocol/audit';
import type { Role } from '#lib/protocol/role';
import {
  type Answer,
  createTestWorkbench,
  InWorkbench,
  personWith,
  press,
  type SentRequest,
} from '../tool-call/testing/in-workbench.tsx';
import { AuditPage } from './audit-page.tsx';

const saved = vi.hoisted((): { file: Blob; name: string }[] => []);
vi.mock('../result/save-file.ts', () => ({
  saveFile: (file: Blob, name: string) => void saved.push({ file, name }),
}));

afterEach(() => {
  saved.length = 0;
});

const entry = (seq: number, more: Partial<WireAuditEntry> = {}): WireAuditEntry => ({
  ...{ seq, at: 86_400, actor: 'operator:olga', token_id: 'tok_olga', address: '10.0.0.7' },
  ...{ act: 'approval_decided', target: `tc_${seq}`, detail: { decision: 'yes' } },
  ...more,
});

const pageOf = (entries: WireAuditEntry[], next_cursor: number | null = null): Answer => ({
  body: { entries, next_cursor },
});

async function setup(
  answer: (request: SentRequest) => Answer | Promise<Answer> = () => pageOf([entry(2), entry(1)]),
  { role = 'admin', search = '' }: { role?: Role; search?: string } = {},
) {
  const { workbench, sent } = createTestWorkbench(answer);
  workbench.me.setState({ me: personWith(role) });
  await act(async () => {
    render(
      <NuqsTestingAdapter hasMemory searchParams={search}>
        <InWorkbench workbench={workbench}>
          <AuditPage />
        </InWorkbench>
      </NuqsTestingAdapter>,
    );
  });
  return { sent, paths: () => sent.map(({ path }) => path) };
}

const entries = () => screen.queryAllByTestId('audit-entry').map((one) => one.textContent);

test('each entry has who, by which token, from where, what, and what it was done to', async () => {
  await setup(() =>
    pageOf([entry(2), entry(1, { actor: 'operator', token_id: null, target: null, detail: {} })]),
  );
  const [first, second] = entries();
  expect(first).toMatch(/^decided on a call tc_2\{"decision":"yes"\}/);
  expect(first).toMatch(/operator:olga · tok_olga · 10\.0\.0\.7$/);
  expect(second).toMatch(/operator · token of the first run · 10\.0\.0\.7$/);
  expect(second).not.toContain('{');
});

test('a call and a conversation that something was done to can be opened', async () => {
  await setup(() => pageOf([entry(2), entry(1, { act: 'run_stopped', target: 'run_1' })]));
  const linkOf = (name: string) => screen.getByRole('link', { name }).getAttribute('href');
  expect(linkOf('tc_2')).toBe('/#call=tc_2');
  expect(linkOf('run_1')).toBe('/?run=run_1');
});

test('hidden characters of an entry are shown as marks', async () => {
  await setup(() => pageOf([entry(1, { detail: { name: 'a\u202eb' } })]));
  expect(entries()[0]).toContain('U+202E');
});

test.each<Role>(['viewer', 'operator'])('a %s reads that an administrator may', async (role) => {
  const { sent } = await setup(undefined, { role });
  expect(screen.getByText(/^This page is for administrators/)).toBeDefined();
  expect(sent).toEqual([]);
});

test('older entries come by pages', async () => {
  const { paths } = await setup(({ path }) =>
    path.includes('cursor=2') ? pageOf([entry(1)]) : pageOf([entry(2)], 2),
  );
  await press('Show more');
  expect(entries()).toHaveLength(2);
  expect(paths()).toEqual(['/v1/audit', '/v1/audit?cursor=2']);
});

test('entries are filtered by who and what, also by a link, and shown again', async () => {
  const { paths } = await setup(undefined, { search: '?actor=operator%3Aolga' });
  expect(paths()).toEqual(['/v1/audit?actor=operator%3Aolga']);
  await act(async () => {
    fireEvent.change(screen.getByRole('combobox', { name: 'What' }), {
      target: { value: 'signed_in' },
    });
  });
  expect(paths().at(-1)).toBe('/v1/audit?actor=operator%3Aolga&act=signed_in');
  fireEvent.change(screen.getByRole('textbox', { name: 'Who' }), { target: { value: ' bob ' } });
  screen.getByRole('button', { name: 'Filter' }).focus();
  await press('Filter');
  expect(document.activeElement?.textContent).toBe('Filter');
  expect(paths().at(-1)).toBe('/v1/audit?actor=bob&act=signed_in');
  await press('Show all');
  expect(paths().at(-1)).toBe('/v1/audit');
  expect(screen.getByRole('textbox', { name: 'Who' })).toHaveProperty('value', '');
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Who' }));
});

test('an answer to an earlier filter that comes late is not shown', async () => {
  const held = Promise.withResolvers<Answer>();
  await setup(({ path }) => (path === '/v1/audit' ? held.promise : pageOf([entry(1)])));
  await act(async () => {
    fireEvent.change(screen.getByRole('combobox', { name: 'What' }), {
      target: { value: 'approval_decided' },
    });
  });
  expect(entries()).toHaveLength(1);
  await act(async () => held.resolve(pageOf([entry(3), entry(2)], 2)));
  expect(entries()).toHaveLength(1);
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
});

test('what the filter gives is saved as JSON lines', async () => {
  const { paths } = await setup(undefined, { search: '?act=approval_decided' });
  await press('Export');
  await vi.waitFor(() => expect(saved).toHaveLength(1));
  expect(paths().at(-1)).toBe('/v1/audit?act=approval_decided&limit=200');
  expect(saved[0]?.name).toMatch(/^callboard-audit-\d{4}-\d\d-\d\d\.jsonl$/);
  const lines = (await saved[0]?.file.text())?.trimEnd().split('\n') ?? [];
  expect(lines.map((line) => JSON.parse(line))).toEqual([entry(2), entry(1)]);
});
