import { expect, test } from 'vitest';
import { type AgentsReport, problemsOf, toMarkdown } from './report.ts';

const REPORT: AgentsReport = {
  ...{ date: '2026-11-23', callboard: '0.1.0', node: 'v24.0.0', platform: 'linux x64' },
  agents: [
    {
      ...{ title: 'Some agent', package: 'some-agent 1.2.3', revisions: ['2025-11-25'] },
      ...{ api: '/v1/messages', text: true, picture: true, problem: null },
    },
  ],
  inspector: {
    package: 'inspector 2.0.0',
    rows: [
      {
        era: 'modern',
        strict: { tools: 9, problem: null },
        load: { requests: 300, problem: null },
      },
    ],
  },
};

test('the page has a row for each agent, and no problems when there were none', () => {
  const page = toMarkdown(REPORT);
  expect(page).toContain(
    '| Some agent | `some-agent 1.2.3` | 2025-11-25 | `/v1/messages` | yes | yes |',
  );
  expect(page).toContain('| modern | 9 tools, no error | 300 requests, no error |');
  expect(page).not.toContain('What failed');
});

test('what failed is on the page, with the reason', () => {
  const [agent] = REPORT.agents;
  const failed: AgentsReport = {
    ...REPORT,
    agents: agent ? [{ ...agent, api: null, picture: false, problem: 'It ended with 1' }] : [],
    inspector: {
      ...REPORT.inspector,
      rows: [
        {
          era: 'legacy',
          strict: { tools: 0, problem: 'It ended with 6' },
          load: { requests: 0, problem: 'It gave no figures' },
        },
      ],
    },
  };
  expect(problemsOf(failed)).toEqual([
    'Some agent: It ended with 1',
    'Inspector (legacy): It ended with 6',
    'Inspector (legacy): It gave no figures',
  ]);
  const page = toMarkdown(failed);
  expect(page).toContain('| Some agent | `some-agent 1.2.3` | 2025-11-25 | – | yes | **no** |');
  expect(page).toContain('| legacy | **failed** | **failed** |');
  expect(page).toContain('## What failed');
});
