import { describe, expect, test } from 'vitest';
import type { FakeTool } from './testing/fakes.ts';
import { inOrder, setupTurns } from './testing/setup-turns.ts';

const KEYS = { anthropicApiKey: 'sk-ant-test', googleApiKey: 'AIza-test' };

const WIRES = [
  'openai-chat:gpt-4o',
  'openai:gpt-4o',
  'anthropic:claude-sonnet-5-5',
  'google:gemini-2.5-flash',
];

const large = (output: unknown): FakeTool => ({ name: 'log.read', run: () => ({ output }) });
const LOG = `FIRST LINE\n${'a line of the log\n'.repeat(10_000)}LAST LINE`;
const script = inOrder({ calls: [{ name: 'log_read', args: {} }] }, { text: 'Read.' });

describe.each(WIRES)('over %s', (model) => {
  const setup = (output: unknown, resultBytes?: number) =>
    setupTurns({
      ...{ model, script, tools: [large(output)], models: KEYS },
      ...(resultBytes === undefined ? {} : { agent: { resultBytes } }),
    });

  test('[MO3] of a large result the model gets head, tail, its size and a handle', async () => {
    const { turn, openai, calls } = await setup(LOG);
    await turn('Read the log');
    const text = openai.requests[1]?.toolResults[0]?.text ?? '';
    for (const words of ['FIRST LINE', 'LAST LINE', `${LOG.length} characters`, 'result_read']) {
      expect(text).toContain(words);
    }
    const [record] = [...calls.records.values()];
    expect(text).toContain(record?.id);
    expect(record?.result).toBe(LOG);
  });

  test('[MO3] the bound is what the configuration says, and stands with what was sent', async () => {
    const { turn, openai, runs } = await setup(LOG, 16_384);
    const { run_id: runId } = await turn('Read the log');
    const text = openai.requests[1]?.toolResults[0]?.text ?? '';
    expect(text.length).toBeLessThan(18_000);
    const page = await runs.modelTurns({ runId, after: 0, limit: 9 });
    expect(page?.turns[1]?.sent).toMatchObject([{ cut: true, limit: 16_384 }]);
  });
});
