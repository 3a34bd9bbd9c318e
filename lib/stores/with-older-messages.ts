import type { MessagesPage } from '../protocol/rest.ts';
import type { RunsState } from './fold-runs.ts';

/** SF20: an older page stands before the messages that are here; each message is here once. */
export function withOlderMessages(state: RunsState, page: MessagesPage): RunsState {
  const { run_id: runId, messages, messages_left_out: left = 0 } = page;
  const here = state.messages[runId] ?? [];
  const ids = new Set(here.map((message) => message.message_id));
  const fetched = messages.filter((message) => !ids.has(message.message_id));
  return {
    ...state,
    messages: { ...state.messages, [runId]: [...fetched, ...here] },
    older: { ...state.older, [runId]: left },
  };
}
