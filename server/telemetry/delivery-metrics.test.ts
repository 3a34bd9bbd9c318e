import { expect, test } from 'vitest';
import { createDeliveryMetrics } from './part-metrics.ts';

test('[TM21] deliveries are counted by target and outcome, and subscriptions of people as one', () => {
  const metrics = createDeliveryMetrics();
  metrics.counted('webhook:ops', 'failed');
  metrics.counted('webhook:ops', 'failed');
  metrics.counted('push:a', 'delivered');
  metrics.counted('push:b', 'delivered');
  expect(metrics.text().split('\n').slice(2, -1)).toEqual([
    'callboard_notify_deliveries_total{target="webhook:ops",outcome="failed"} 2',
    'callboard_notify_deliveries_total{target="push",outcome="delivered"} 2',
  ]);
});
