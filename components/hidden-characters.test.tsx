// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react';
import { NuqsTestingAdapter } from 'nuqs/adapters/testing';
import type { ReactNode } from 'react';
import { expect, test } from 'vitest';
import type { CallError } from '#lib/protocol/call-status';
import type { Card } from '#lib/protocol/card';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { snapshot } from '#lib/stores/testing/fixtures';
import { Notice } from './conversation/notice.tsx';
import { UserBubble } from './conversation/user-bubble.tsx';
import { DevicePromptBanner } from './providers/device-prompt-banner.tsx';
import { ResultView } from './result/result-view.tsx';
import { PartialParams } from './tool-call/partial-params.tsx';
import { createTestWorkbench, InWorkbench } from './tool-call/testing/in-workbench.tsx';
import { layOut } from './tool-call/testing/layout.ts';
import { BlockedSentence, ToolCard } from './tool-call/tool-card.tsx';
import { ToolsPage } from './tools/tools-page.tsx';

/** One of each kind that the first set of marks left out. */
const HIDDEN = '\u{e0041}\ufe01\u3164\u2800\u034f\u206a';
const CODES = 'U+E0041, U+FE01, U+3164, U+2800, U+034F, U+206A';
const MARK = `6 hidden characters ${CODES}`;
const evil = `ev${HIDDEN}il`;

async function show(view: ReactNode, fill?: (workbench: Workbench) => void): Promise<void> {
  const { workbench } = createTestWorkbench(() => ({ body: { calls: 0, tools: [] } }));
  fill?.(workbench);
  await act(async () => {
    render(
      <NuqsTestingAdapter searchParams={{ tool: 'gate' }}>
        <InWorkbench workbench={workbench}>{view}</InWorkbench>
      </NuqsTestingAdapter>,
    );
  });
  // The form of a tool comes by itself.
  await act(async () => void (await import('./tools/schema-form.tsx')));
}
type Workbench = ReturnType<typeof createTestWorkbench>['workbench'];

const card = (more: Partial<Card>): ReactNode => (
  <ToolCard
    callId="tc_1"
    seq={1}
    card={{ params: {}, tool_name: 'gate', source: 'client', client_name: evil, ...more }}
    actions={{
      cancel: async () => true,
      retry: () => {},
      extend: () => {},
      showClients: () => {},
      decide: async () => true,
      answer: async () => true,
      copy: () => {},
      showModelOutput: () => {},
      showWhole: () => {},
      download: () => {},
      blobUrl: (id) => id,
    }}
  />
);

const error: CallError = { code: 'tool_error', message: evil, executed: 'yes' };

const tool: ToolListing = {
  name: 'gate',
  model_name: 'gate',
  source: 'client',
  description: evil,
  display_name: evil,
  schema: { type: 'object', properties: { [evil]: { type: 'string', description: evil } } },
  timeout_ms: 1_000,
  clients: [{ client_id: 'cl_1', name: evil, visible: true }],
  callable: false,
  reason: evil,
};

const withTool = (workbench: Workbench) =>
  workbench.listings.getState().replace(snapshot(1, { tools: [tool] }));

const withPrompt = ({ prompts }: Workbench) =>
  void prompts
    .getState()
    .ask({ tool: 'gate', callId: 'tc_1', message: evil, signal: AbortSignal.any([]) });

const result = (value: unknown): ReactNode => (
  <ResultView value={value} attachments={[]} name="gate" blobUrl={(id) => id} />
);

// The number of marks: each place shows each text that it is given.
test.each<[string, number, ReactNode, ((workbench: Workbench) => void)?]>([
  [
    'arguments to approve',
    3,
    card({ status: 'WAIT', phase: 'approval', params: { [evil]: evil } }),
  ],
  [
    'why a call is to be approved',
    2,
    card({ status: 'WAIT', phase: 'approval', approval_reason: evil }),
  ],
  [
    'arguments that are written',
    3,
    card({ status: 'WAIT', phase: 'streaming', params: { [evil]: evil } }),
  ],
  ['whom a call waits for', 2, card({ status: 'WAIT', phase: 'queued' })],
  ['whom a call was sent to', 2, card({ status: 'DOING', phase: 'offered' })],
  [
    'what a running tool reports',
    3,
    card({ status: 'DOING', phase: 'granted', tip: evil, preview: evil }),
  ],
  ['why a call failed', 2, card({ status: 'ERROR', error })],
  [
    'what a client calls its failure',
    3,
    card({ status: 'ERROR', error: { ...error, client_code: evil } }),
  ],
  ['who left', 3, card({ status: 'ERROR', error: { ...error, code: 'client_disconnected' } })],
  [
    'clients that are not asked',
    1,
    <BlockedSentence key="" clients={[{ kind: 'silent', id: 'cl_1', name: evil }]} />,
  ],
  ['partial arguments', 1, <PartialParams key="" params={{ a: evil }} isWriting={false} />],
  ['a text', 1, result(evil)],
  ['a tree', 2, result({ a: { b: { [evil]: evil } } })],
  ['facts', 2, result({ [evil]: evil })],
  ['a table', 2, result([{ [evil]: evil }])],
  ['the weather', 2, result({ place: evil, temperature_c: 1, conditions: evil })],
  ['a tool of the list and beside it', 8, <ToolsPage key="" />, withTool],
  ['what the person at this device is asked', 1, <DevicePromptBanner key="" />, withPrompt],
  [
    'a message',
    1,
    <UserBubble
      key=""
      message={{
        message_id: 'm',
        run_id: 'run_1',
        role: 'user',
        parts: [{ type: 'text', text: evil }],
        status: 'done',
        created_at: 1,
      }}
    />,
  ],
  ['a notice', 1, <Notice key="" code="x" words={evil} />],
])('[RV5] hidden characters are marks in %s', async (_place, count, view, fill) => {
  layOut({ height: 100 });
  await show(view, fill);
  expect(await screen.findAllByRole('img', { name: MARK })).toHaveLength(count);
  expect(document.body.textContent).not.toContain(evil);
});

test('[RV5] a text that is little else has its marks as plain text', async () => {
  await show(result('a\u200b'.repeat(1_500)));
  expect(screen.queryAllByRole('img')).toEqual([]);
  expect(document.body.textContent).toContain('a⟨U+200B⟩a⟨U+200B⟩');
});
