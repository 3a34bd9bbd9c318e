import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { changed, sampleCall } from '#lib/call/testing/sample-call';
import { tempDir } from '#lib/testing/temp-dir';
import { createStoreOnThisThread } from '../store/testing/store-on-this-thread.ts';
import { appendCall } from '../store/testing/store-setup.ts';
import { boundedLabel, counter, gauge, histogram } from './prometheus.ts';
import { createMetrics } from './server-metrics.ts';

const AT = 1_000_000;

const succeeded = (more: object = {}) =>
  sampleCall({
    ...{ id: 'tc_1', toolName: 'camera.photo', source: 'client', status: 'SUCCEEDED' },
    ...{ phase: null, createdAt: AT, queuedAt: AT + 3_000, offeredAt: AT + 3_010 },
    ...{ startedAt: AT + 3_050, completedAt: AT + 4_050 },
    ...more,
  });

const textOf = ({ counted }: ReturnType<typeof createMetrics>): string =>
  counted.map((metric) => metric.text()).join('');

const row = (text: string, start: string): string | undefined =>
  text.split('\n').find((line) => line.startsWith(start));

test('[TM1] a call that ends is counted once, and its late result is not', () => {
  const metrics = createMetrics();
  const call = succeeded();
  metrics.observe(call, undefined);
  metrics.observe(changed(call, { lateResult: 5 }), call);
  metrics.observe(succeeded({ status: 'RUNNING', completedAt: undefined }), undefined);
  const failed = { code: 'denied', message: '', executed: 'no' } as const;
  metrics.observe(succeeded({ status: 'FAILED', error: failed }), succeeded({ status: 'PENDING' }));
  const text = textOf(metrics);
  const name = 'callboard_tool_calls_total{tool="camera.photo",source="client",outcome=';
  expect(row(text, `${name}"ok"`)).toBe(`${name}"ok"} 1`);
  expect(row(text, `${name}"denied"`)).toBe(`${name}"denied"} 1`);
  expect(row(text, 'callboard_tool_call_duration_seconds_count')).toContain('} 2');
});

test('[TM2] of a thousand names two hundred have rows, and the rest one', () => {
  const metrics = createMetrics();
  for (let at = 0; at < 1_000; at += 1)
    metrics.observe(succeeded({ toolName: `t${at}` }), undefined);
  const rows = textOf(metrics).match(/^callboard_tool_calls_total\{.*$/gm) ?? [];
  expect(rows).toHaveLength(201);
  expect(rows.at(-1)).toBe(
    'callboard_tool_calls_total{tool="_other",source="client",outcome="ok"} 800',
  );
});

test('[TM3] the parts of a call are measured, and those that it did not reach are not there', () => {
  const metrics = createMetrics();
  metrics.observe(succeeded(), undefined);
  const text = textOf(metrics);
  const sum = (phase: string) =>
    row(text, `callboard_tool_call_phase_seconds_sum{phase="${phase}"}`)?.split(' ')[1];
  expect([sum('approval'), sum('queue'), sum('offer'), sum('execute')]).toEqual([
    ...[undefined, '0.01', '0.04', '1'],
  ]);
  const denied = succeeded({
    ...{ queuedAt: undefined, offeredAt: undefined, startedAt: undefined, completedAt: AT - 5_000 },
    card: { ...succeeded().card, approval_decision: { by: 'operator', decision: 'no' } },
  });
  metrics.observe(denied, undefined);
  expect(row(textOf(metrics), 'callboard_tool_call_phase_seconds_sum{phase="approval"}')).toMatch(
    / 0$/,
  );
});

test('[TM4] decisions of people are counted once, and approvals that expired', () => {
  const metrics = createMetrics();
  const asked = changed(succeeded(), { status: 'PENDING' });
  const decided = changed(asked, {
    card: { ...asked.card, approval_decision: { by: 'operator', decision: 'yes' } },
  });
  metrics.observe(asked, undefined);
  metrics.observe(decided, asked);
  metrics.observe(changed(decided, { status: 'SUCCEEDED' }), decided);
  const error = { code: 'approval_expired', message: '', executed: 'no' } as const;
  metrics.observe(changed(asked, { status: 'FAILED', error }), asked);
  expect(textOf(metrics).match(/^callboard_approvals_total\{.*$/gm)).toEqual([
    'callboard_approvals_total{decision="yes"} 1',
    'callboard_approvals_total{decision="expired"} 1',
  ]);
});

test('[TM6] labels are escaped, and buckets add up', () => {
  const calls = counter('calls_total', 'Calls\nof all', ['tool']);
  calls.add('a"b\\c\nd');
  expect(calls.text()).toBe(
    '# HELP calls_total Calls\\nof all\n# TYPE calls_total counter\ncalls_total{tool="a\\"b\\\\c\\nd"} 1\n',
  );
  const times = histogram('times', 'Times', 'of', [1, 2]);
  for (const seconds of [0.5, 1, 1.5, 9]) times.observe('x', seconds);
  expect(times.text().split('\n').slice(2, -1)).toEqual([
    'times_bucket{of="x",le="1"} 2',
    'times_bucket{of="x",le="2"} 3',
    'times_bucket{of="x",le="+Inf"} 4',
    'times_sum{of="x"} 12',
    'times_count{of="x"} 4',
  ]);
  expect(gauge('g', 'G', () => new Map([['tab', 2]]), 'kind').text()).toContain(
    'g{kind="tab"} 2\n',
  );
  const label = boundedLabel(1);
  expect([label('a'), label('b'), label('a')]).toEqual(['a', '_other', 'a']);
});

test('[TM20] each group of changes is measured when it is on disk, in a row without a label', async () => {
  const dir = tempDir();
  const metrics = createMetrics();
  const store = createStoreOnThisThread({
    ...{ file: join(dir, 'callboard.db'), onCommitted: metrics.committed },
  });
  onTestFinished(() => store.close());
  const count = () =>
    Number(/^callboard_store_commit_seconds_count (\d+)$/m.exec(textOf(metrics))?.[1] ?? 0);
  await store.write([appendCall(sampleCall())]);
  const first = count();
  expect(first).toBeGreaterThan(0);
  await store.write([appendCall(sampleCall({ id: 'tc_2' }))]);
  expect(count()).toBe(first + 1);
  expect(textOf(metrics)).toMatch(/^callboard_store_commit_seconds_bucket\{le="0.0005"\} \d+$/m);
});

test('[TM21] deliveries are counted by target and outcome, and subscriptions of people as one', () => {
  const metrics = createMetrics();
  metrics.delivered('webhook:ops', 'failed');
  metrics.delivered('webhook:ops', 'failed');
  metrics.delivered('push:a', 'delivered');
  metrics.delivered('push:b', 'delivered');
  expect(textOf(metrics).match(/^callboard_notify_deliveries_total\{.*$/gm)).toEqual([
    'callboard_notify_deliveries_total{target="webhook:ops",outcome="failed"} 2',
    'callboard_notify_deliveries_total{target="push",outcome="delivered"} 2',
  ]);
});
