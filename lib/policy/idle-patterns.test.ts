import { expect, test } from 'vitest';
import { idlePatterns } from './match.ts';

test('patterns that fit no tool are named once, in any spelling of the tools', () => {
  const policy = {
    ...{ ask: ['clipboard.*', 'mial.send'], deny: ['Camera_Photo'] },
    ...{ rules: [{ tools: ['mial.send', 'mail.*'] }, {}], limits: [{ tools: ['job.*'] }] },
  };
  const tools = ['clipboard.read', 'camera.photo', 'mail.send'];
  expect(idlePatterns(policy, tools)).toEqual(['mial.send', 'job.*']);
  expect(idlePatterns({ ask: [], deny: [], rules: [] }, [])).toEqual([]);
});
