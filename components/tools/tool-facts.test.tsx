// @vitest-environment happy-dom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { ToolFacts } from './tool-detail.tsx';

function show(
  clients: ToolListing['clients'],
  more: Partial<ToolListing> = {},
  locale: 'en' | 'zh' = 'en',
): void {
  const { workbench } = createTestWorkbench(() => ({ status: 200, body: {} }));
  const tool: ToolListing = {
    name: 'camera',
    model_name: 'camera',
    source: 'client',
    description: 'A camera.',
    schema: { type: 'object' },
    timeout_ms: 5_000,
    clients,
    callable: true,
    ...more,
  };
  renderIn(workbench, <ToolFacts tool={tool} />, locale);
}

const phone = { client_id: 'c_1', name: 'Phone', visible: true, responsive: true };

test('a client with another schema is listed beside the pool, with how to call it', () => {
  show([phone], { others: [{ client_id: 'c_2', name: 'Tablet' }] });
  expect(screen.getByText('camera@c_2').parentElement?.textContent).toBe('Tablet camera@c_2');
});

test('a client that does not deliver is shown with how often, and when it is asked again', () => {
  show([{ ...phone, tripped: { until: Date.now() / 1_000 + 25, failures: 3 } }]);
  expect(screen.getByText(/^3 calls in a row not delivered; asked again in 2\d s$/)).toBeDefined();
});

test('after the pause it is shown that the next call is its probe', () => {
  show([{ ...phone, tripped: { until: Date.now() / 1_000 - 1, failures: 3 } }]);
  expect(screen.getByText(/asked again with the next call/)).toBeDefined();
});

test.each([
  ['en', 'Provider: mcp'],
  ['zh', '提供方：mcp'],
] as const)('a tool of another kind of provider names that kind (%s)', (locale, text) => {
  show([], { source: 'mcp' }, locale);
  expect(screen.getByText(text)).toBeDefined();
});
