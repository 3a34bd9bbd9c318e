// @vitest-environment happy-dom
import { render, screen, waitFor } from '@testing-library/react';
import { NextIntlClientProvider } from 'next-intl';
import { StrictMode } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { catalogue } from '#lib/i18n/catalogue';
import { pageProtocols } from '../providers/page-session.ts';
import { SignInLink } from './sign-in-link.tsx';

beforeEach(() => localStorage.clear());
/** The page of a link, whose server gives this answer. */
function open(answer: () => Promise<Response>) {
  const went: string[] = [];
  const sent: unknown[] = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    sent.push([init.method, url, JSON.parse(String(init.body))]);
    return answer();
  });
  render(
    <StrictMode>
      <NextIntlClientProvider locale="en" messages={catalogue.en}>
        <SignInLink code="the-code" go={(path) => went.push(path)} />
      </NextIntlClientProvider>
    </StrictMode>,
  );
  return { went, sent };
}

const refused = async (status: number, code: string) =>
  Response.json({ error: { code, message: 'No.' } }, { status });

test('the code is sent once by the page, and the key that comes back is kept for the sockets', async () => {
  const { went, sent } = open(async () => Response.json({ ok: true, session_key: 'k-1' }));
  await waitFor(() => expect(went).toEqual(['/']));
  expect(sent).toEqual([['POST', '/auth/sign-in', { code: 'the-code' }]]);
  expect(pageProtocols()).toEqual(['callboard.v1', 'session.k-1']);
});

test('a used link leads to the form, which shows it', async () => {
  const { went } = open(() => refused(401, 'unauthenticated'));
  expect(await screen.findByText(/^This link no longer works/)).toBeDefined();
  expect(screen.getByLabelText('Token')).toBeDefined();
  expect(screen.getByRole('alert').textContent).toBe('');
  expect(went).toEqual([]);
  expect(pageProtocols()).toEqual(['callboard.v1']);
});

test('what else is wrong is shown beside the form, and is not called a used link', async () => {
  open(() => Promise.reject(new TypeError('no route')));
  await waitFor(() => expect(screen.getByRole('alert').textContent).toMatch(/does not respond/));
  expect(screen.queryByText(/no longer works/)).toBeNull();
});

test('in a browser that stores nothing the page shows it, since it would not stay signed in', async () => {
  vi.stubGlobal('localStorage', {
    getItem: () => null,
    setItem() {
      throw new Error('denied');
    },
  });
  const { went } = open(async () => Response.json({ ok: true, session_key: 'k-2' }));
  await waitFor(() => expect(screen.getByRole('alert').textContent).toMatch(/stores nothing/));
  expect(went).toEqual([]);
});
