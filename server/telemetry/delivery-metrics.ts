import { counter } from './prometheus.ts';

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
