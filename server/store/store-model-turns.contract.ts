import { expect, test } from 'vitest';
import { sampleModelTurn } from '#lib/protocol/testing/sample-model-turn';
import type { Setup } from './testing/store-setup.ts';

const put = (given: Parameters<typeof sampleModelTurn>[0]) =>
  ({ type: 'put_model_turn', turn: sampleModelTurn(given) }) as const;
const sent = (toolCallId: string, more: object = {}) => ({
  ...{ tool_call_id: toolCallId, sha256: 'e'.repeat(64), bytes: 1, cut: false, images: [] },
  ...more,
});

/** What every `Store` does with the requests to models. */
export function describeModelTurns(setup: Setup) {
  test('[ST47] requests to models come in the order of their numbers, and are replaced by number', async () => {
    const { store, reopen } = setup();
    const open = { first_token_at: null, ended_at: null, finish_reason: null };
    await store.write([put({ number: 2, ...open }), put({ number: 1 })]);
    await store.write([put({ run_id: 'run_2' })]);
    await store.write([put({ number: 2 })]);
    expect(await (await reopen()).listModelTurns({ runId: 'run_1', after: 0, limit: 9 })).toEqual({
      turns: [sampleModelTurn(), sampleModelTurn({ number: 2 })],
      nextAfter: null,
    });
  });

  test('[ST47] the tokens of the answered requests of a run are summed by model', async () => {
    const { store } = setup();
    const counted = {
      input_tokens: 10,
      output_tokens: 2,
      reasoning_tokens: 1,
      cached_tokens: null,
    };
    const none = { ...counted, input_tokens: null, output_tokens: null, reasoning_tokens: null };
    await store.write([
      put({ number: 1, usage: counted }),
      put({ number: 2, usage: { ...counted, cached_tokens: 4 } }),
      put({ number: 3, usage: none }),
      put({ number: 4, model: 'openai:other', usage: none }),
      put({ number: 5, finish_reason: null, error_code: 'cancelled' }),
      put({ number: 1, run_id: 'run_2' }),
    ]);
    const tokens = await store.runTokens('run_1');
    expect(tokens.toSorted((a, b) => a.model.localeCompare(b.model))).toEqual([
      {
        ...{ model: 'openai:gpt-5', requests: 3, uncounted: 1 },
        ...{ input: 20, cached: 4, output: 4, reasoning: 2 },
      },
      {
        ...{ model: 'openai:other', requests: 1, uncounted: 1 },
        ...{ input: 0, cached: 0, output: 0, reasoning: 0 },
      },
    ]);
    expect(await store.runTokens('run_3')).toEqual([]);
  });

  test('[ST47] pages go on above a number, by message and by call too', async () => {
    const { store } = setup();
    await store.write(
      [1, 2, 3, 4, 5].map((number) =>
        put({
          number,
          message_id: number < 4 ? 'msg_a' : 'msg_b',
          sent: [sent('tc_0'), ...(number % 2 === 1 ? [sent('tc_odd')] : [])],
        }),
      ),
    );
    const numbers = async (more: object) => {
      const page = await store.listModelTurns({ runId: 'run_1', after: 0, limit: 2, ...more });
      return [page.turns.map(({ number }) => number), page.nextAfter];
    };
    expect(await numbers({})).toEqual([[1, 2], 2]);
    expect(await numbers({ after: 4 })).toEqual([[5], null]);
    expect(await numbers({ messageId: 'msg_b' })).toEqual([[4, 5], null]);
    expect(await numbers({ toolCallId: 'tc_odd' })).toEqual([[1, 3], 3]);
    expect(await numbers({ toolCallId: 'tc_odd', after: 3 })).toEqual([[5], null]);
    expect(await numbers({ toolCallId: 'tc_od' })).toEqual([[], null]);
  });

  test('[ST48] a page holds 1 MiB of what was stored, and one request at least', async () => {
    const { store } = setup();
    // A result takes 130 characters and more.
    const large = Array.from({ length: 3_000 }, (_, index) => sent(`tc_${index}`));
    const huge = Array.from({ length: 9_000 }, (_, index) => sent(`tc_${index}`));
    await store.write([put({ number: 1, sent: huge })]);
    await store.write([2, 3, 4].map((number) => put({ number, sent: large })));
    const page = (after: number) => store.listModelTurns({ runId: 'run_1', after, limit: 200 });
    const read: number[][] = [];
    for (let after: number | null = 0; after !== null; ) {
      const { turns, nextAfter } = await page(after);
      read.push(turns.map(({ number }) => number));
      after = nextAfter;
    }
    expect(read).toEqual([[1], [2, 3], [4]]);
  });
}
