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

/** Subscriptions of people are many; the targets of the configuration are few. */
const PUSH = 'push';

/** What became of notices that leave the server (rule TM21). */
export function createDeliveryMetrics() {
  const deliveries = counter(
    'callboard_notify_deliveries_total',
    'Attempts to send notices, and deliveries that ended without one',
    ['target', 'outcome'],
  );
  return {
    counted: (target: string, outcome: string) =>
      deliveries.add(target.startsWith(`${PUSH}:`) ? PUSH : target, outcome),
    text: deliveries.text,
  };
}

/** Requests of the API by route and status (rule TM5). */
export function createHttpMetrics() {
  const requests = counter('callboard_http_requests_total', 'Requests that were answered', [
    ...['route', 'status'],
  ]);
  return {
    /** `route` is a pattern such as `/v1/runs/:id`, of which there are as many as routes. */
    answered: (route: string, status: number) => requests.add(route, String(status)),
    text: requests.text,
  };
}
