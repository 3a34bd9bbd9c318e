import { counter, type Metric } from './prometheus.ts';

export interface DeliveryMetrics extends Metric {
  counted(target: string, outcome: string): void;
}

/** Subscriptions of people are many; the targets of the configuration are few. */
const PUSH = 'push';

/** What became of notices that leave the server (rule TM21). */
export function createDeliveryMetrics(): DeliveryMetrics {
  const deliveries = counter(
    'callboard_notify_deliveries_total',
    'Attempts to send notices, and deliveries that ended without one',
    ['target', 'outcome'],
  );
  return {
    counted: (target, outcome) =>
      deliveries.add(target.startsWith(`${PUSH}:`) ? PUSH : target, outcome),
    text: deliveries.text,
  };
}
