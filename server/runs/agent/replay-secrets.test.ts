import { expect, test } from 'vitest';
import { createSecrets } from '#lib/text/secrets';
import { createReplayDraft } from './replay.ts';

test('[AL151] of what a provider gave to be sent back, a part with a secret is not kept', () => {
  const { hide } = createSecrets([{ kind: 'configured', value: 'canary-7f3a' }]);
  const draft = createReplayDraft();
  draft.metadata(0, { openai: { itemId: 'rs_1', note: 'of canary-7f3a' } });
  draft.metadata(1, { openai: { itemId: 'rs_2' } });
  draft.reasoning(1, 'It is canary-7f3a');
  draft.metadata(2, { openai: { itemId: 'msg_1' } });
  const shown = [undefined, 'It is [redacted:configured]', 'done'];
  expect(draft.finish('openai:gpt-4o', shown, hide)).toEqual({
    model: 'openai:gpt-4o',
    parts: [{ at: 2, metadata: { openai: { itemId: 'msg_1' } } }],
  });
});
