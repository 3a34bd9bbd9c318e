// @vitest-environment happy-dom
import { render, screen, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { MarkdownImage } from './markdown.tsx';

const BLOB = `/v1/blobs/blob_${'0a'.repeat(20)}`;

function show(src: string) {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url);
    return new Response('bytes');
  });
  vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:1');
  const { container } = render(<MarkdownImage src={src} alt="a chart" />);
  return { asked, container };
}

test.each([BLOB, `${location.origin}${BLOB}`, `${BLOB}?x=1#y`])(
  'our blob at %s is read by its path and drawn',
  async (src) => {
    const { asked } = show(src);
    const image = screen.getByRole('img', { name: 'a chart' });
    await waitFor(() => expect(image.getAttribute('src')).toBe('blob:1'));
    expect(asked).toEqual([BLOB]);
  },
);

test.each([
  '/v1/tool_calls/tc_1',
  '/v1/blobs/../tool_calls',
  '/v1/blobs/blob_x',
  `${BLOB}/x`,
  'http://',
  '',
])('for %o nothing is asked, and its words are shown', (src) => {
  const { asked, container } = show(src);
  expect(container.textContent).toBe('a chart');
  expect(asked).toEqual([]);
});
