import type { Call } from '#lib/call/call';
import type { CardUpdate } from '#lib/protocol/card';
import type { Logger } from '../base/logger.ts';
import type { EventBus } from '../events/room.ts';

/** An event of a call that is published: the call as it is after it, and what people see of it. */
interface CallNews {
  readonly call: Call;
  readonly update: CardUpdate;
  /** The number of the event among all that watchers are sent. */
  readonly seq: number;
}

type OnNews = (news: CallNews) => void;

/** Sends each event of a call to the watchers, and to those who follow that call or its run. */
export class CallFollowers {
  readonly #byCall = new Map<string, Set<OnNews>>();
  readonly #byRun = new Map<string, Set<OnNews>>();
  readonly #bus: Pick<EventBus, 'publish'>;
  readonly #logger: Logger;

  constructor(bus: Pick<EventBus, 'publish'>, logger: Logger) {
    this.#bus = bus;
    this.#logger = logger;
  }

  /** Calls `onNews` with each event from now on. Returns a function that ends it. */
  follow(of: { callId: string } | { runId: string }, onNews: OnNews): () => void {
    const [byId, id] = 'callId' in of ? [this.#byCall, of.callId] : [this.#byRun, of.runId];
    const followers = byId.get(id) ?? new Set();
    byId.set(id, followers.add(onNews));
    return () => {
      if (followers.delete(onNews) && followers.size === 0) byId.delete(id);
    };
  }

  readonly publish = (call: Call, update: CardUpdate): void => {
    const { id, runId } = call;
    const seq = this.#bus.publish({ type: 'call', tool_call_id: id, run_id: runId, update });
    const news = { call, update, seq };
    for (const followers of [this.#byCall.get(id), this.#byRun.get(runId)]) {
      for (const onNews of followers ?? []) this.#call(onNews, news);
    }
  };

  /** One that throws takes nothing from the others, nor from the call. */
  #call(onNews: OnNews, news: CallNews): void {
    try {
      onNews(news);
    } catch (error) {
      this.#logger.error(error);
    }
  }
}
