// @vitest-environment happy-dom
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { Boundary } from './boundary.tsx';

function Fragile({ value }: { value: string }) {
  if (value === 'bad') throw new Error('this view fails');
  return <p>{value}</p>;
}

const page = (value: string) => (
  <>
    <p>before</p>
    <Boundary of={value} fallback={<p>raw</p>}>
      <Fragile value={value} />
    </Boundary>
  </>
);

const QUIET = { onCaughtError: () => {} };

test('a part that fails gives way to its fallback and leaves its neighbours alone', () => {
  render(page('bad'), QUIET);
  expect(screen.getByText('before')).toBeDefined();
  expect(screen.getByText('raw')).toBeDefined();
});

test('another value is tried anew', () => {
  const { rerender } = render(page('bad'), QUIET);
  rerender(page('good'));
  expect(screen.getByText('good')).toBeDefined();
  expect(screen.queryByText('raw')).toBeNull();
  rerender(page('bad'));
  expect(screen.getByText('raw')).toBeDefined();
});
