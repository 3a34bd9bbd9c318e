// @vitest-environment happy-dom
import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { forgetSessionKey, keepSessionKey, pageProtocols } from '../providers/page-session.ts';
import {
  type Answer,
  createTestWorkbench,
  InWorkbench,
} from '../tool-call/testing/in-workbench.tsx';
import { SignedOut } from './app-frame.tsx';
import { useSignOut } from './use-sign-out.ts';

beforeEach(() => void keepSessionKey('k'));
const SignOutButton = () => {
  const signOut = useSignOut();
  return (
    <button type="button" onClick={() => void signOut()}>
      Out
    </button>
  );
};

/** The server closes the sockets of the session before it answers. */
function setup(answer: Answer) {
  const went: string[] = [];
  vi.spyOn(location, 'assign').mockImplementation((url) => void went.push(String(url)));
  const { workbench } = createTestWorkbench(() => {
    act(() => lose());
    return answer;
  });
  const lose = () => workbench.connection.setState({ feed: { kind: 'refused' } });
  render(
    <InWorkbench workbench={workbench}>
      <SignOutButton />
      <SignedOut />
    </InWorkbench>,
  );
  return { went, lose };
}

test('signing out leads to the sign-in page once, and the key is forgotten', async () => {
  const { went } = setup({ body: { ok: true } });
  fireEvent.click(screen.getByText('Out'));
  await waitFor(() => expect(went).not.toEqual([]));
  expect(went).toEqual(['/sign-in']);
  expect(pageProtocols()).toEqual(['callboard.v1']);
});

test('a session that ends by itself leads there too, and shows that it ended', () => {
  const { went, lose } = setup({ body: {} });
  act(lose);
  expect(went).toEqual([`/sign-in?expired=session&next=${encodeURIComponent(location.pathname)}`]);
});

test('when signing out did not work, a session that has ended all the same is noticed', async () => {
  const { went } = setup({ status: 500, body: {} });
  fireEvent.click(screen.getByText('Out'));
  await waitFor(() => expect(went).toHaveLength(1));
  expect(went[0]).toContain('expired=session');
});

test('signing out in another tab leads there, also when this one signed in before it and keeps its sockets', () => {
  const { went } = setup({ body: {} });
  act(() => void window.dispatchEvent(new StorageEvent('storage', { key: 'callboard:theme' })));
  expect(went).toEqual([]);
  forgetSessionKey();
  act(() => void window.dispatchEvent(new StorageEvent('storage', { key: 'callboard:session' })));
  expect(went).toEqual([`/sign-in?expired=session&next=${encodeURIComponent(location.pathname)}`]);
});

test('signing in anew in another tab leads nowhere', () => {
  const { went } = setup({ body: {} });
  keepSessionKey('another');
  act(() => void window.dispatchEvent(new StorageEvent('storage', { key: 'callboard:session' })));
  expect(went).toEqual([]);
});
