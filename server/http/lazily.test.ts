import { expect, test } from 'vitest';
import { lazily } from './lazily.ts';

function lazyRequest() {
  const made: Request[] = [];
  const request = lazily(Request.prototype, { method: 'POST' }, () => {
    const whole = new Request('http://callboard/mcp', { method: 'POST', body: 'whole' });
    made.push(whole);
    return whole;
  });
  return { request, made };
}

test('What is at hand makes nothing whole', () => {
  const { request, made } = lazyRequest();
  expect(request.method).toBe('POST');
  expect(request).toBeInstanceOf(Request);
  expect(made).toEqual([]);
});

test('All else is of one whole that is made once: fields, methods, and copies', async () => {
  const { request, made } = lazyRequest();
  expect(request.url).toBe('http://callboard/mcp');
  expect(await request.clone().text()).toBe('whole');
  expect(await request.text()).toBe('whole');
  expect(request.bodyUsed).toBe(true);
  expect(made).toHaveLength(1);
});
