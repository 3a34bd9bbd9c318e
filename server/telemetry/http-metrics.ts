import { counter } from './prometheus.ts';

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
