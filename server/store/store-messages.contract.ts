import { expect, test } from 'vitest';
import type { Message } from '#lib/protocol/run';
import { putMessage, type Setup, sampleMessage } from './testing/store-setup.ts';

export function describeMessages(setup: Setup): void {
  test('[ST18] what is put with a message is read by itself, of the newest 200 messages', async () => {
    const { store, reopen } = setup();
    const put = (at: number, replay?: unknown) => ({
      ...putMessage(sampleMessage({ message_id: `msg_${at}` }), at),
      ...(replay === undefined ? {} : { replay }),
    });
    await store.write([put(0), put(1, { n: 1 }), put(2, [])]);
    const more = Array.from({ length: 199 }, (_, at) => put(3 + at, { n: 3 + at }));
    await store.write(more);
    const again = await reopen();
    const { messages } = await again.listMessages({ runId: 'run_1', maxChars: 1e6 });
    expect(messages[1]).toEqual(sampleMessage({ message_id: 'msg_1' }));
    const replays = await again.getReplays('run_1');
    expect(replays.size).toBe(200);
    expect([replays.get('msg_2'), replays.get('msg_201')]).toEqual([[], { n: 201 }]);
    expect(await again.getReplays('run_2')).toEqual(new Map());
  });

  test('[ST18] messages are in the order of their positions, and are replaced by id', async () => {
    const { store, reopen } = setup();
    const streaming = sampleMessage({
      message_id: 'msg_b',
      role: 'assistant',
      status: 'streaming',
      created_at: 1, // The order is not that of the times.
    });
    const done: Message = {
      ...streaming,
      status: 'done',
      parts: [
        { type: 'reasoning', text: 'r' },
        { type: 'tool_call', tool_call_id: 'tc_1' },
      ],
    };
    await store.write([putMessage(streaming, 1), putMessage(sampleMessage(), 0)]);
    await store.write([putMessage(sampleMessage({ message_id: 'm', run_id: 'run_2' }), 0)]);
    await store.write([putMessage(done, 1)]);
    expect(
      (await (await reopen()).listMessages({ runId: 'run_1', maxChars: 1e6 })).messages,
    ).toEqual([sampleMessage(), done]);
  });

  test('[ST74] messages are read by page, the newest first, with the number of those of people before', async () => {
    const { store } = setup();
    const text = 'x'.repeat(1_000);
    const message = (n: number) =>
      sampleMessage({
        message_id: `msg_${n}`,
        role: n % 2 === 0 ? 'user' : 'assistant',
        parts: [{ type: 'text', text }],
      });
    await store.write(Array.from({ length: 10 }, (_, n) => putMessage(message(n), n)));
    const newest = await store.listMessages({ runId: 'run_1', maxChars: 3_500 });
    expect(newest).toEqual({
      messages: [message(7), message(8), message(9)],
      ...{ from: 7, to: 10, askedBefore: 4 },
    });
    const before = { runId: 'run_1', before: 2, maxChars: 3_500 };
    expect(await store.listMessages(before)).toEqual({
      messages: [message(0), message(1)],
      ...{ from: 0, to: 2, askedBefore: 0 },
    });
    const least = await store.listMessages({ runId: 'run_1', maxChars: 1 });
    expect(least).toMatchObject({ messages: [message(9)], from: 9 });
    expect(await store.listMessages({ runId: 'run_2', maxChars: 9 })).toMatchObject({ to: 0 });
  });
}
