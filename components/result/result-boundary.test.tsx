// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { ResultBoundary } from './result-boundary.tsx';

afterEach(cleanup);

function Broken(): never {
  throw new Error('this view fails');
}

test('a view that fails gives way to its fallback and leaves its neighbours alone', () => {
  render(
    <>
      <p>before</p>
      <ResultBoundary fallback={<p>raw</p>}>
        <Broken />
      </ResultBoundary>
    </>,
    { onCaughtError: () => {} },
  );
  expect(screen.getByText('before')).toBeDefined();
  expect(screen.getByText('raw')).toBeDefined();
});
