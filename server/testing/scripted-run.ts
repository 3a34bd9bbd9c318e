import type { Call } from '#lib/call/call';
import { mergeCard } from '#lib/call/merge-card';
import type { Card, CardUpdate } from '#lib/protocol/card';
import type { Message, MessagePart, RunRecord, RunSummary } from '#lib/protocol/run';
import type { WatchEventBody } from '#lib/protocol/watch-messages';
import { createTurnStreams, type TurnEvent, type TurnStreamDeps } from '../doors/turn-stream.ts';
import { createMemoryBus } from '../events/memory-bus.ts';

export const RUN: RunSummary = {
  ...{ run_id: 'run_1', title: 'Phone', model: null, tools: null, step: 1, max_steps: 10 },
  ...{ status: 'running', error: null, created_at: 1, updated_at: 1 },
};
export const text = (words: string): MessagePart => ({ type: 'text', text: words });
export const ofCall: MessagePart = { type: 'tool_call', tool_call_id: 'tc_1' };

export const written = (parts: MessagePart[], more: Partial<Message> = {}): Message => ({
  ...{ message_id: 'msg_2', run_id: 'run_1', role: 'assistant', created_at: 1, parts },
  status: 'streaming',
  ...more,
});

interface Before {
  readonly run?: Partial<RunRecord>;
  readonly calls?: Awaited<ReturnType<TurnStreamDeps['shownCalls']>>['calls'];
}

/** The stream of a run whose events the test gives; they arrive at once. */
export function scriptedRun<Rendered>({ run: given = {}, calls: shown = [] }: Before = {}) {
  const bus = createMemoryBus({ schedule: (flush) => flush() });
  let onNews: Parameters<TurnStreamDeps['calls']['follow']>[1] = () => {};
  const stream = createTurnStreams({
    bus: {
      // Those of calls have the call by then, as they do when a turn of the event loop lies between.
      subscribe: ({ onEvents }) =>
        bus.subscribe({ onEvents: (events) => held.push(() => onEvents(events)) }),
      get seq() {
        return bus.seq;
      },
    },
    calls: {
      follow(_, listener) {
        onNews = listener;
        return () => {};
      },
    },
    runs: { get: async () => ({ ...RUN, messages: [], ...given }) },
    shownCalls: async () => ({ seq: bus.seq, calls: shown }),
  })('run_1');
  const held: (() => void)[] = [];
  const rendered: Rendered[] = [];
  /** Renders events from now on. */
  const follow = (render: (event: TurnEvent) => readonly Rendered[]) =>
    stream.follow((event) => void rendered.push(...render(event)));
  const publish = (event: WatchEventBody, card?: Card) => {
    const seq = bus.publish(event);
    if (event.type === 'call' && card) {
      const call = { id: event.tool_call_id, runId: 'run_1', card } as Call;
      onNews({ call, update: event.update, seq });
    }
    for (const deliver of held.splice(0)) deliver();
    return rendered.splice(0);
  };
  let card: Card | undefined = shown[0] && mergeCard(undefined, shown[0].card);
  return {
    stream,
    follow,
    /** Each gives what is rendered of it. */
    message: (parts: MessagePart[], more: Partial<Message> = {}) =>
      publish({ type: 'message', run_id: 'run_1', message: written(parts, more) }),
    delta: (index: number, delta: string, part: 'text' | 'reasoning' = 'text') =>
      publish({ type: 'message_delta', run_id: 'run_1', message_id: 'msg_2', index, part, delta }),
    run: (more: Partial<RunSummary> = {}) => publish({ type: 'run', run: { ...RUN, ...more } }),
    call(update: CardUpdate) {
      card = mergeCard(card, update);
      return publish({ type: 'call', run_id: 'run_1', tool_call_id: 'tc_1', update }, card);
    },
  };
}
