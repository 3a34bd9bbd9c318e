import { expect, test } from 'vitest';
import { AGENT_PROGRAMS, agentSnippets } from '#lib/format/snippets';

const CONNECTION = { address: 'http://127.0.0.1:3000', token: 'cb_agent_x' };

test.each(AGENT_PROGRAMS)('what %s is given has the address and the token once', (program) => {
  const texts = agentSnippets(program, CONNECTION).map(({ text }) => text);
  const text = texts.join('\n');
  expect(text).toContain(CONNECTION.address);
  // VS Code asks for the token when it connects.
  expect(text.split(CONNECTION.token)).toHaveLength(program === 'vscode' ? 1 : 2);
});

test('what goes into a file of JSON is JSON', () => {
  const files = AGENT_PROGRAMS.flatMap((program) => agentSnippets(program, CONNECTION)).filter(
    ({ place }) => place?.endsWith('.json'),
  );
  expect(files).toHaveLength(4);
  for (const { text } of files) expect(() => JSON.parse(text)).not.toThrow();
});
