// @vitest-environment happy-dom
import { act, cleanup, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Reach } from '#lib/protocol/reach';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { InsecureBanner } from './app-frame.tsx';

async function setup(plaintext: boolean, locale: 'en' | 'zh' = 'en') {
  const origin = 'http://192.168.1.5:3000';
  const address = {
    origin,
    scheme: 'http',
    from: 'network',
    needs_trust: false,
    lacks: [],
  } as const;
  const body: Reach = {
    tls: 'none',
    open: true,
    plaintext,
    ca: null,
    addresses: [{ ...address, lacks: [] }],
  };
  const { workbench, sent } = createTestWorkbench(() => ({ body }));
  await act(async () => void renderIn(workbench, <InsecureBanner />, locale));
  expect(sent.map(({ path }) => path)).toEqual(['/v1/reach']);
}

test.each([
  ['en', /everyone on the network/, /camera.*--lan/],
  ['zh', /网络上的所有人/, /摄像头.*--lan/],
] as const)(
  '[LN51] T32: without TLS a banner says in %s who reads along, and what cannot work',
  async (locale, title, text) => {
    await setup(true, locale);
    const alert = screen.getByRole('alert');
    expect(alert.textContent).toMatch(title);
    expect(alert.textContent).toMatch(text);
    expect(alert.textContent).toContain('http://192.168.1.5:3000');
  },
);

test('[LN51] it can be hidden, and is not there with TLS', async () => {
  await setup(true);
  await act(async () => screen.getByRole('button').click());
  expect(screen.queryByRole('alert')).toBeNull();
  cleanup();
  await setup(false);
  expect(screen.queryByRole('alert')).toBeNull();
});
