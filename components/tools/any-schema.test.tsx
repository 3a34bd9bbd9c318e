// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import fc from 'fast-check';
import { NuqsTestingAdapter } from 'nuqs/adapters/testing';
import { describe, expect, test, vi } from 'vitest';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { tool as anyTool, snapshot } from '#lib/stores/testing/fixtures';
import { hostileRecord, hostileSchema } from '../testing/hostile-json.ts';
import { createTestWorkbench, InWorkbench } from '../tool-call/testing/in-workbench.tsx';
import { ToolsPage } from './tools-page.tsx';

const toolOf = (name: string, schema: Record<string, unknown>) =>
  anyTool(name, { source: 'client', schema });

/** The page of tools, with these two, of which the second is looked at. */
async function showPage(tools: readonly ToolListing[], name: string): Promise<void> {
  const { workbench } = createTestWorkbench(() => ({ body: { calls: 0, tools: [] } }));
  workbench.listings.getState().replace(snapshot(1, { tools: [...tools] }));
  await act(async () => {
    render(
      <NuqsTestingAdapter searchParams={{ tool: name }}>
        <InWorkbench workbench={workbench}>
          <ToolsPage />
        </InWorkbench>
      </NuqsTestingAdapter>,
    );
  });
  // The form comes by itself.
  await act(async () => void (await import('./schema-form.tsx')));
}

/** Everything that can be read on the page, in fields too. */
const words = (): string =>
  [
    document.body.textContent,
    ...[...document.querySelectorAll('input, textarea')].map((field) =>
      'value' in field ? field.value : '',
    ),
  ].join(' ');

const NOT_DATA = /This cannot be shown|\[object Object\]|native code/;

const parse = (text: string): Record<string, unknown> => JSON.parse(text);

describe('[RV2] [RV3] a schema of any shape leaves the page of tools as it is', () => {
  test.each([
    '{"type":"object","properties":{"a":{"type":"string","title":{}}}}',
    '{"type":"object","properties":{"a":{"type":"string","description":{"a":1}}}}',
    '{"type":"object","properties":{"a":{"type":"object","title":[{}],"description":{},"properties":{"b":{"type":"string"}}}}}',
    '{"type":"object","properties":{"a":{"type":"array","title":{},"description":{},"items":{"type":"string","title":{}}}}}',
    '{"type":"object","properties":{"a":{"type":"string","enum":[{"toString":1}]}}}',
    '{"type":"object","properties":{"a":{"type":"string","examples":{"x":1},"format":{}}}}',
    '{"type":"object","properties":{"a":{"type":"string","default":{"toString":1}}}}',
    '{"type":"object","properties":{"a":{"type":"string","default":{"b":1}}}}',
    '{"type":"object","properties":{"a":{"type":{"toString":1}}}}',
    '{"type":"object","properties":{"a":{"type":"array","default":{"constructor":[]}}}}',
    '{"type":"object","properties":{"a":{"type":"array","minItems":1e9,"items":{"type":"string"}}}}',
    '{"type":"object","properties":{"toString":{"type":"string"},"__proto__":{"type":"string"}}}',
    '{"type":"object","properties":{"a":{"type":"object","properties":{"constructor":{"type":"number"}}}}}',
    '{"type":"object","properties":{"a":{"type":"string"}},"required":{"length":-1}}',
    '{"type":"object","properties":{"a":{"type":"string","minLength":{},"readOnly":{},"multipleOf":{}}}}',
  ])('%s', async (schema) => {
    await showPage([toolOf('good', { type: 'object' }), toolOf('odd', parse(schema))], 'odd');
    expect(screen.getByRole('button', { name: 'good' })).toBeDefined();
    expect(screen.getByRole('heading', { level: 1, name: 'odd' })).toBeDefined();
    expect(screen.getByRole('button', { name: 'Run' })).toBeDefined();
    expect(words()).not.toMatch(NOT_DATA);
  });

  test('whatever its properties are', async () => {
    await fc.assert(
      fc.asyncProperty(hostileSchema, async (schema) => {
        // Also after a failure, or each smaller example fails by what that one left.
        cleanup();
        await showPage([toolOf('odd', schema), toolOf('good', { type: 'object' })], 'odd');
        // By its text: names of roles are looked up by ids, and here an id can be no selector.
        expect(screen.getByText('good')).toBeDefined();
        expect(screen.getByText('Run')).toBeDefined();
        expect(words()).not.toMatch(NOT_DATA);
      }),
      { numRuns: 60 },
    );
  });

  test('whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(hostileRecord, async (schema) => {
        cleanup();
        await showPage([toolOf('odd', schema), toolOf('good', { type: 'object' })], 'odd');
        expect(screen.getByText('good')).toBeDefined();
        expect(words()).not.toMatch(NOT_DATA);
      }),
      { numRuns: 40 },
    );
  });
});

test('[RV4] arguments that no field can hold are shown as JSON, and the form comes back', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  await showPage([toolOf('odd', schema)], 'odd');
  const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));
  press('JSON');
  const json = screen.getByRole('textbox', { name: 'Arguments as JSON' });
  fireEvent.change(json, { target: { value: '{"a":{"toString":1}}' } });
  press('Form');
  expect(screen.getByText(/cannot be shown as a form/)).toBeDefined();
  const fallback = screen.getByRole('textbox', { name: 'Arguments as JSON' });
  fireEvent.change(fallback, { target: { value: '{"a":"b"}' } });
  expect(screen.getByRole('textbox', { name: /^a/ })).toHaveProperty('value', 'b');
});

test('[RV4] a tool that cannot be drawn fails alone, in the list and beside it', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const odd: ToolListing = { ...toolOf('odd', {}), ...JSON.parse('{"description":{}}') };
  await showPage([odd, toolOf('good', { type: 'object' })], 'odd');
  expect(screen.getAllByTestId('cannot-show')).toHaveLength(2);
  expect(screen.getAllByRole('button', { name: 'Download' })).toHaveLength(2);
  expect(screen.getByRole('button', { name: 'good' })).toBeDefined();
});
