import type { StoredModelTurn } from '../model-turn.ts';

/** A request that has ended, with one result in it. */
export const sampleModelTurn = (given: Partial<StoredModelTurn> = {}): StoredModelTurn => ({
  run_id: 'run_1',
  number: 1,
  message_id: 'msg_1',
  turn: 1,
  step: 1,
  attempt: 1,
  model: 'openai:gpt-5',
  started_at: 1_700_000_000.1,
  first_token_at: 1_700_000_000.4,
  ended_at: 1_700_000_001.6,
  finish_reason: 'stop',
  error_code: null,
  usage: { input_tokens: 1_234, output_tokens: 56, reasoning_tokens: null, cached_tokens: 1_024 },
  tools_offered: 3,
  tools_sha256: 'a'.repeat(64),
  prompt_sha256: 'b'.repeat(64),
  rendering: 1,
  sent: [
    {
      tool_call_id: 'tc_1',
      sha256: 'c'.repeat(64),
      bytes: 4,
      cut: false,
      images: [
        { blob_id: 'blob_1', media_type: 'image/jpeg', sha256: 'd'.repeat(64), bytes: 1_000 },
      ],
    },
  ],
  ...given,
});
