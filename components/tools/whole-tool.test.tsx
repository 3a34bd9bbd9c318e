// @vitest-environment happy-dom
import { act, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { tool as anyTool } from '#lib/stores/testing/fixtures';
import { type Answer, createTestWorkbench, renderIn } from '../tool-call/testing/in-workbench.tsx';
import { WholeTool } from './tool-detail.tsx';

const schema = { type: 'object', description: 'All that it takes' };
const listed = anyTool('map.draw', { source: 'client', schema: {}, schema_bytes: 60_000 });

async function setup(tool: ToolListing, answer: Answer) {
  const { workbench, sent } = createTestWorkbench(() => answer);
  await act(
    async () =>
      void renderIn(
        workbench,
        <WholeTool tool={tool}>{(whole) => <p>{JSON.stringify(whole.schema)}</p>}</WholeTool>,
      ),
  );
  return sent;
}

test('a schema that the feed left out is fetched by the tool’s name', async () => {
  const sent = await setup(listed, { status: 200, body: { tools: [{ ...listed, schema }] } });
  expect(await screen.findByText(JSON.stringify(schema))).toBeDefined();
  expect(sent).toMatchObject([{ path: '/api/tools?name=map.draw' }]);
});

test('a tool that was removed meanwhile is shown as such', async () => {
  await setup(listed, { status: 200, body: { tools: [] } });
  expect((await screen.findByRole('alert')).textContent).toContain('map.draw');
});
