// @vitest-environment happy-dom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { MissingCall } from './missing-call.tsx';

/** Of a page on which all is in sight. */
class InSight extends IntersectionObserver {
  readonly #onChange: IntersectionObserverCallback;

  constructor(onChange: IntersectionObserverCallback) {
    super(onChange);
    this.#onChange = onChange;
  }

  override observe(target: Element): void {
    const rect = target.getBoundingClientRect();
    const sizes = { boundingClientRect: rect, intersectionRect: rect, rootBounds: null };
    const entry = { ...sizes, target, isIntersecting: true, intersectionRatio: 1, time: 0 };
    this.#onChange([entry], this);
  }
}

async function show(code: string, locale: 'en' | 'zh') {
  const { workbench } = createTestWorkbench(() => ({
    status: 404,
    body: { error: { code, message: 'What the server says.' } },
  }));
  await workbench.older.getState().loadCall('tc_1');
  renderIn(workbench, <MissingCall runId="run_1" callId="tc_1" />, locale);
  return screen.getByTestId('missing-call');
}

test.each([
  ['en', 'This call was deleted: it is older than what this server keeps.'],
  ['zh', '此调用已被删除：它早于本服务器保留的历史记录。'],
] as const)(
  'a call that was deleted for its age says so, and is not tried again (%s)',
  async (locale, text) => {
    const line = await show('call_deleted', locale);
    expect(line.textContent).toBe(text);
    expect(screen.queryByRole('button')).toBeNull();
  },
);

test('another one says why it could not be loaded', async () => {
  const line = await show('internal', 'en');
  expect(line.textContent).toContain('What the server says.');
  expect(screen.getByRole('button', { name: 'Try again' })).toBeDefined();
});

test.each([
  ['[SF22] an ended call that may be on its way is not fetched', false, 0],
  ['[SF22] one that waits for a person is fetched at once', true, 1],
])('%s', async (_name, isOpen, requests) => {
  const { workbench, sent } = createTestWorkbench(() => ({ status: 404, body: {} }));
  workbench.listings.setState({ known: true });
  workbench.calls.setState({ isPart: true });
  const real = globalThis.IntersectionObserver;
  globalThis.IntersectionObserver = InSight;
  renderIn(workbench, <MissingCall runId="run_1" callId="tc_1" isOpen={isOpen} />);
  globalThis.IntersectionObserver = real;
  expect(sent.length).toBe(requests);
});
