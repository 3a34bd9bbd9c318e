import { boundedLabel, counter, histogram } from './prometheus.ts';

/** Peers choose codes, within those that WebSocket has. */
const MOST_CODES = 30;

/** How sockets closed (rule TM19). */
export function createSocketMetrics() {
  const codeOf = boundedLabel(MOST_CODES);
  const closes = counter('callboard_socket_closes_total', 'Sockets that closed, by code', ['code']);
  return { closed: (code: number) => closes.add(codeOf(String(code))), text: closes.text };
}

/** A disk takes less than the other waits. */
const COMMIT_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** How long the disk takes (rule TM20). */
export function createStoreMetrics() {
  const commits = histogram(
    ...(['callboard_store_commit_seconds', 'Of groups of changes', '', COMMIT_SECONDS] as const),
  );
  return { committed: (seconds: number) => commits.observe('', seconds), text: commits.text };
}
