import { expect, test } from 'vitest';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { createSecrets } from '#lib/text/secrets';
import { inOrder, setupTurns } from './agent/testing/setup-turns.ts';

const KEY = 'canary-of-the-harbour-7f3a';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const secrets = createSecrets([{ kind: 'configured', value: KEY }]);

const piecesOf = (events: readonly WatchEvent[]): string =>
  events.map((event) => (event.type === 'message_delta' ? event.delta : '')).join('');

test('[RU50] what a person writes has no secret, also where a title would cut it', async () => {
  const { turn, store, bus, openai } = await setupTurns({
    script: inOrder({ text: 'done' }),
    secrets,
  });
  const words = `${'x'.repeat(45)} ${KEY} and ${TOKEN}`;
  const run = await turn(words);
  const parts = [
    { type: 'text', text: `${'x'.repeat(45)} [redacted:configured] and [redacted:token]` },
  ];
  expect(run.messages[0]).toMatchObject({ role: 'user', parts });
  const all = JSON.stringify([run, store.writes, bus.events, openai.requests]);
  for (const part of [KEY.slice(0, 12), TOKEN.slice(0, 12)]) expect(all).not.toContain(part);
});

test('[RU50] what a model writes has none at any moment, on disk or before watchers', async () => {
  const pieces = ['The key is ', KEY.slice(0, 9), KEY.slice(9), ', the other ', TOKEN.slice(0, 15)];
  const text = [...pieces, TOKEN.slice(15), '.'];
  const { turn, store, bus } = await setupTurns({
    script: inOrder({ reasoning: `Shall I say ${KEY}?`, text: text.join('') }),
    model: 'compatible:gemma',
    secrets,
  });
  const run = await turn('Which key?');
  expect(run.messages.at(-1)?.parts.at(-1)).toEqual({
    type: 'text',
    text: 'The key is [redacted:configured], the other [redacted:token].',
  });
  const all = JSON.stringify([run, store.writes, bus.events]) + piecesOf(bus.events);
  for (const part of [KEY.slice(0, 12), TOKEN.slice(0, 12)]) expect(all).not.toContain(part);
});

test('[RU50] a failure in the words of a provider has none', async () => {
  const { turn, store, bus } = await setupTurns({
    script: inOrder({ status: 400, error: { message: `The key ${KEY} may not use this model` } }),
    secrets,
  });
  const run = await turn('Hello');
  expect(run.error?.message).toContain('The key [redacted:configured] may not');
  expect(JSON.stringify([run, store.writes, bus.events])).not.toContain(KEY);
});
