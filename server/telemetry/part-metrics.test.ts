import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import { createStoreOnThisThread } from '../store/testing/store-on-this-thread.ts';
import { appendCall } from '../store/testing/store-setup.ts';
import { createDeliveryMetrics, createStoreMetrics } from './part-metrics.ts';

test('[TM20] each group of changes is measured when it is on disk, in a row without a label', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'part-metrics-'));
  const metrics = createStoreMetrics();
  const store = createStoreOnThisThread({
    ...{ file: join(dir, 'callboard.db'), onCommitted: metrics.committed },
  });
  onTestFinished(async () => {
    await store.close();
    rmSync(dir, { recursive: true });
  });
  const count = () =>
    Number(/^callboard_store_commit_seconds_count (\d+)$/m.exec(metrics.text())?.[1] ?? 0);
  await store.write([appendCall(sampleCall())]);
  const first = count();
  expect(first).toBeGreaterThan(0);
  await store.write([appendCall(sampleCall({ id: 'tc_2' }))]);
  expect(count()).toBe(first + 1);
  expect(metrics.text()).toMatch(/^callboard_store_commit_seconds_bucket\{le="0.0005"\} \d+$/m);
});

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
