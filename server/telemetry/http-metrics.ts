import { counter, type Metric } from './prometheus.ts';

export interface HttpMetrics extends Metric {
  /** `route` is a pattern such as `/v1/runs/:id`, of which there are as many as routes. */
  answered(route: string, status: number): void;
}

/** Requests of the API by route and status (rule TM5). */
export function createHttpMetrics(): HttpMetrics {
  const requests = counter('callboard_http_requests_total', 'Requests that were answered', [
    ...['route', 'status'],
  ]);
  return {
    answered: (route, status) => requests.add(route, String(status)),
    text: requests.text,
  };
}
