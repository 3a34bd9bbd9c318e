// @vitest-environment happy-dom
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { NextIntlClientProvider } from 'next-intl';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import type { ApiFailure } from '#lib/api/api-result';
import { catalogue } from '#lib/i18n/catalogue';
import type { SignInCredential } from '#lib/protocol/rest';
import { SignInForm } from './sign-in-form.tsx';

const refusal = (status: number, retryAfter: number | null = null): ApiFailure => ({
  ok: false,
  code: 'refused',
  message: 'No.',
  details: [],
  status,
  retryAfter,
});

function setup(answer: ApiFailure | { ok: true; value: unknown }) {
  const tokens: SignInCredential[] = [];
  const went: string[] = [];
  render(
    <NextIntlClientProvider locale="en" messages={catalogue.en}>
      <SignInForm
        reason={null}
        next="/tools"
        signIn={async (token) => {
          tokens.push(token);
          return answer;
        }}
        go={(path) => went.push(path)}
      />
    </NextIntlClientProvider>,
  );
  const submit = (token: string) => {
    fireEvent.change(screen.getByLabelText('Token'), { target: { value: token } });
    fireEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  };
  return { tokens, went, submit };
}

test('the right token leads to where one wanted to be', async () => {
  const { tokens, went, submit } = setup({ ok: true, value: {} });
  submit('  secret\n');
  await waitFor(() => expect(went).toEqual(['/tools']));
  expect(tokens).toEqual([{ token: 'secret' }]);
});

test.each([
  [refusal(401), /token is wrong/],
  [refusal(429, 7), /in 7 s/],
  [refusal(0), /does not respond/],
  [refusal(500), /failed: No\./],
])('an error shows what to do', async (answer, words) => {
  const { went, submit } = setup(answer);
  submit('x');
  await waitFor(() => expect(screen.getByRole('alert').textContent).toMatch(words));
  expect(went).toEqual([]);
});

test('an empty field sends no request', async () => {
  const { tokens, submit } = setup({ ok: true, value: {} });
  submit('   ');
  await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('Enter the token.'));
  expect(tokens).toEqual([]);
});

test('before the page listens nothing can be sent, and never in an address', () => {
  const html = renderToString(
    <NextIntlClientProvider locale="en" messages={catalogue.en}>
      <SignInForm reason={null} next="/" />
    </NextIntlClientProvider>,
  );
  expect(html).toMatch(/<form[^>]* method="post"/);
  expect(html).toMatch(/<button[^>]* disabled=""/);
  setup({ ok: true, value: {} });
  expect(screen.getByRole('button', { name: 'Sign in' })).toHaveProperty('disabled', false);
});
