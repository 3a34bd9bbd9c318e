import { expect, test } from 'vitest';
import { inOrder, setupTurns } from './testing/setup-turns.ts';

test('[MO3] a result is bounded as the configuration says, and the bound stands with what was sent', async () => {
  const { turn, openai, runs } = await setupTurns({
    script: inOrder({ calls: [{ name: 'log_read', args: {} }] }, { text: 'Read.' }),
    tools: [{ name: 'log.read', run: () => ({ output: 'a line of the log\n'.repeat(10_000) }) }],
    agent: { resultBytes: 16_384 },
  });
  const { run_id: runId } = await turn('Read the log');
  const text = openai.requests[1]?.toolResults[0]?.text ?? '';
  expect(text.length).toBeLessThan(18_000);
  const page = await runs.modelTurns({ runId, after: 0, limit: 9 });
  expect(page?.turns[1]?.sent).toMatchObject([{ cut: true, limit: 16_384 }]);
});
