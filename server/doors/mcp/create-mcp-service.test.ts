import { expect, test } from 'vitest';
import { ListStreams } from './create-mcp-service.ts';

function setup() {
  const streams = new ListStreams();
  /** What came on it, and whether it was ended. */
  const open = () => {
    const stream = { text: '', isOver: false };
    const leave = streams.open('agent_1', {
      send: (text) => {
        stream.text += text;
      },
      end: () => {
        stream.isOver = true;
      },
    });
    return { stream, leave };
  };
  return { streams, open };
}

test('[MP31] the ninth stream of an agent ends the oldest', () => {
  const { open } = setup();
  const opened = Array.from({ length: 9 }, open);
  expect(opened.map(({ stream }) => stream.isOver)).toEqual([true, ...Array(8).fill(false)]);
});

test('[MP31] a stream that was ended and closes late takes no other out of the list', () => {
  const { streams, open } = setup();
  const [oldest, ...others] = Array.from({ length: 9 }, open);
  for (const { leave } of others) leave();
  const { stream } = open();
  oldest?.leave();
  streams.toolsChanged();
  expect(stream.text).toContain('notifications/tools/list_changed');
});
