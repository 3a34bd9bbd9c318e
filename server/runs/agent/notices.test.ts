import { APICallError } from 'ai';
import { expect, test } from 'vitest';
import { describeModelError } from './notices.ts';

const api = (statusCode: number | undefined, message: string, responseBody = '') =>
  new APICallError({
    message,
    url: 'http://models.test',
    requestBodyValues: {},
    ...(statusCode === undefined ? {} : { statusCode }),
    responseBody,
  });

test.each([
  ['HTTP 403', api(403, 'no'), 'model_unauthenticated', /403/],
  ['HTTP 400', api(400, 'odd schema'), 'model_refused_request', /odd schema/],
  [
    'a model without tools of Ollama',
    api(400, 'registry.ollama.ai/library/gemma3:4b does not support tools'),
    'tools_not_supported',
    /"tool_calling": "text".*"openai:gpt-5"/,
  ],
  [
    'one of vLLM',
    api(400, '"auto" tool choice requires --enable-auto-tool-choice to be set'),
    'tools_not_supported',
    /tool_calling/,
  ],
  [
    'one of llama.cpp',
    api(500, 'tools param requires --jinja flag'),
    'tools_not_supported',
    /text/,
  ],
  [
    'one of OpenRouter',
    api(404, 'No endpoints found that support tool use.'),
    'tools_not_supported',
    /text/,
  ],
  [
    'no connection',
    api(undefined, 'Cannot connect to API'),
    'model_unreachable',
    /OPENAI_BASE_URL/,
  ],
  [
    'a refused one',
    new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }),
    'model_unreachable',
    /ECONNREFUSED/,
  ],
  ['a thrown text', 'nonsense', 'model_failed', /nonsense/],
])('[AL66] %s is told as its kind, with what to do', (_, error, code, words) => {
  const published = describeModelError(error, 'openai:gpt-5');
  expect(published.code).toBe(code);
  expect(published.message).toMatch(words);
});

test.each([400, 404, 500])('[AL66] a key in a message of HTTP %i is not repeated', (status) => {
  const published = describeModelError(api(status, 'sk-proj-abc_DEF-123 is wrong'), 'openai:gpt-5');
  expect(published.message).not.toContain('abc_DEF');
  const google = describeModelError(api(status, 'AIzaSyAbc_DEF is wrong'), 'google:gemini-2.5-pro');
  expect(google.message).not.toContain('Abc_DEF');
});

test('[AL66] a cause that is its own cause ends', () => {
  const error = new Error('round');
  error.cause = error;
  expect(describeModelError(error, 'm').message).toContain('round');
});
