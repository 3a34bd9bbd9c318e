// @vitest-environment happy-dom
import { fireEvent, render, screen, within } from '@testing-library/react';
import { NextIntlClientProvider } from 'next-intl';
import { describe, expect, test, vi } from 'vitest';
import { catalogue } from '#lib/i18n/catalogue';
import { ApiReference } from './api-reference.tsx';

const document = {
  paths: {
    '/v1/tool_calls/{id}/extend': {
      post: {
        operationId: 'extendToolCall',
        tags: ['calls'],
        summary: 'Give a running call more time',
        description: 'For: operator.',
        security: [{ bearer: [] }],
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { by_ms: { type: 'integer' } },
                required: ['by_ms'],
              },
            },
          },
        },
        responses: { 200: { description: 'The record' } },
      },
    },
  },
};

describe('ApiReference', () => {
  test('shows operations with their parameters, bodies and a command', async () => {
    setup(async () => Response.json(document));
    const operation = await screen.findByRole('region', { name: /^POST.*\/extend/ });
    const parameters = within(operation).getByRole('table', { name: 'Parameters' });
    expect(within(parameters).getByRole('rowheader', { name: 'id' })).toBeDefined();
    expect(within(operation).getByText('by_ms')).toBeDefined();
    expect(within(operation).getByText(/curl -X POST/).textContent).toContain('{"by_ms":1}');
    expect(screen.getByRole('heading', { level: 1, name: 'HTTP API' })).toBeDefined();
    expect(screen.getByRole('button', { name: '/openapi.json' })).toBeDefined();
    const contents = screen.getByRole('navigation', { name: 'Contents' });
    expect(within(contents).getByRole('link', { name: 'calls' })).toBeDefined();
  });

  test('shows why it cannot, and tries again', async () => {
    const answers = [
      Response.json(
        { error: { code: 'shutting_down', message: 'It is stopping.' } },
        { status: 503 },
      ),
      Response.json(document),
    ];
    setup(async () => answers.shift() ?? Response.error());
    expect((await screen.findByRole('alert')).textContent).toContain('It is stopping.');
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByRole('region', { name: /^POST.*\/extend/ })).toBeDefined();
  });
});

function setup(fetch: () => Promise<Response>): void {
  vi.stubGlobal('fetch', fetch);
  render(
    <NextIntlClientProvider locale="en" messages={catalogue.en} timeZone="UTC">
      <ApiReference />
    </NextIntlClientProvider>,
  );
}
