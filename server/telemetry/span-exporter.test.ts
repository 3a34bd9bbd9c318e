import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { serveHttp } from '#lib/net/testing/serve-http';
import { createErrorLog } from '../testing/error-log.ts';
import { INTERNAL, type Span } from './span.ts';
import { SpanExporter } from './span-exporter.ts';
import { startOtlpReceiver } from './testing/otlp-receiver.ts';

const span = (at: number, more: Partial<Span> = {}): Span => ({
  ...{ traceId: 'a'.repeat(32), spanId: at.toString(16).padStart(16, '0') },
  ...{ parentSpanId: undefined, name: `execute_tool t${at}`, kind: INTERNAL },
  ...{ start: 1_700_000_000_000, end: 1_700_000_000_001 + at, attributes: {}, isError: false },
  ...more,
});

async function setup(
  answerTo?: Parameters<typeof startOtlpReceiver>[0],
  down = false,
  url?: string,
) {
  const receiver = await startOtlpReceiver(answerTo);
  if (down) await receiver.close();
  else onTestFinished(receiver.close);
  const clock = createManualClock();
  /** How long each pause was that it made. */
  const pauses: number[] = [];
  const schedule: typeof clock.schedule = (ms, fire) => {
    pauses.push(ms);
    return clock.schedule(ms, fire);
  };
  const { logger, errors } = createErrorLog();
  const notes: string[] = [];
  const exporter = new SpanExporter({
    config: { url: url ?? `${receiver.endpoint}/v1/traces`, headers: { authorization: 'Basic x' } },
    resource: { 'service.name': 'board' },
    clock: { now: clock.now, schedule },
    logger: { ...logger, info: (line) => notes.push(line) },
    hide: (text) => text.replaceAll('canary-7f3a', '[hidden]'),
  });
  const countOf = (name: string) =>
    Number(new RegExp(`^callboard_traces_${name}_total (\\d+)$`, 'm').exec(exporter.text())?.[1]);
  const counts = () => ({ exported: countOf('exported'), dropped: countOf('dropped') });
  const add = (count: number) => {
    for (let at = 1; at <= count; at += 1) exporter.add(span(at));
  };
  return { receiver, clock, pauses, exporter, counts, add, notes, errors };
}

test('[TM11] spans go as OTLP/HTTP JSON after five seconds, with the headers', async () => {
  const { receiver, clock, exporter, counts } = await setup();
  const attributes = { text: 'x'.repeat(300), whole: 7, part: 0.5, is: true, none: undefined };
  exporter.add(span(1, { attributes, isError: true, parentSpanId: 'b'.repeat(16) }));
  exporter.add(span(2, { start: 1_700_000_000_000, end: 1_600_000_000_000 }));
  clock.advance(4_999);
  expect(receiver.requests).toHaveLength(0);
  clock.advance(1);
  await expect.poll(counts).toEqual({ exported: 2, dropped: 0 });
  expect(receiver.problems).toEqual([]);
  const [{ headers, path } = { headers: {}, path: '' }] = receiver.requests;
  expect([path, headers.authorization]).toEqual(['/v1/traces', 'Basic x']);
  const [first, second] = receiver.spans;
  expect(first).toMatchObject({
    ...{ parentSpanId: 'b'.repeat(16), kind: 1, status: { code: 2 } },
    startTimeUnixNano: '1700000000000000000',
    attributes: { text: 'x'.repeat(256), whole: 7, part: 0.5, is: true },
  });
  expect(first?.attributes).not.toHaveProperty('none');
  expect(second?.endTimeUnixNano).toBe(second?.startTimeUnixNano);
});

test('[TM11] 512 spans go at once, and never more in one request', async () => {
  const { receiver, counts, add, clock } = await setup();
  add(1_500);
  await expect.poll(counts).toEqual({ exported: 1_024, dropped: 0 });
  expect(receiver.requests).toHaveLength(2);
  clock.advance(5_000);
  await expect.poll(counts).toEqual({ exported: 1_500, dropped: 0 });
  expect(receiver.problems).toEqual([]);
});

test('[TM12] with a receiver that is down the queue is bounded, and what has no room is counted', async () => {
  const { counts, add, clock, pauses, notes, errors } = await setup(undefined, true);
  add(3_000);
  // The first batch is on its way.
  expect(counts()).toEqual({ exported: 0, dropped: 3_000 - 2_048 - 512 });
  for (const pause of [1_000, 2_000, 4_000, 8_000]) {
    await expect.poll(() => pauses.at(-1)).toBe(pause);
    clock.advance(pause);
  }
  await expect.poll(() => counts().dropped).toBe(3_000 - 2_048);
  expect(notes).toEqual([expect.stringMatching(/^The receiver of traces takes no spans/)]);
  expect(errors).toEqual([]);
});

test.each([429, 502, 503, 504])('[TM13] %i is tried again, its spans come once', async (status) => {
  const { receiver, counts, add, clock, pauses, notes } = await setup((request) =>
    request < 3 ? { status } : { status: 200 },
  );
  add(512);
  for (const wait of [1_000, 2_000]) {
    await expect.poll(() => pauses.at(-1)).toBe(wait);
    clock.advance(wait);
  }
  await expect.poll(counts).toEqual({ exported: 512, dropped: 0 });
  expect(receiver.requests).toHaveLength(3);
  expect(notes.at(-1)).toBe('The receiver of traces takes spans again');
});

test.each([
  ['in seconds', () => '7'],
  ['by a date', (now: number) => new Date(now + 7_000).toUTCString()],
])('[TM13] a receiver may say %s how long to wait', async (_how, header) => {
  const { now } = createManualClock();
  const { receiver, counts, add, clock, pauses } = await setup((request) =>
    request === 1 ? { status: 503, headers: { 'retry-after': header(now()) } } : { status: 200 },
  );
  add(512);
  await expect.poll(() => pauses.at(-1)).toBe(7_000);
  clock.advance(6_999);
  expect(receiver.requests).toHaveLength(1);
  clock.advance(1);
  await expect.poll(counts).toEqual({ exported: 512, dropped: 0 });
});

test.each([400, 401, 404, 500, 302])(
  '[TM13] %i is not tried again, nor is a redirect followed',
  async (status) => {
    const { receiver, counts, add } = await setup(() => ({
      ...{ status, headers: { location: '/elsewhere' } },
    }));
    add(512);
    await expect.poll(counts).toEqual({ exported: 0, dropped: 512 });
    expect(receiver.requests).toHaveLength(1);
  },
);

test('[TM14] what waits at the stop is sent', async () => {
  const { receiver, exporter, counts, add } = await setup();
  add(700);
  await exporter.close(60_000);
  expect(counts()).toEqual({ exported: 700, dropped: 0 });
  expect(receiver.problems).toEqual([]);
  exporter.add(span(1));
  expect(counts().dropped).toBe(1);
});

test('[TM14] at the stop no request is made twice', async () => {
  const { receiver, exporter, counts, add } = await setup(() => ({ status: 503 }));
  add(700);
  await exporter.close(60_000);
  expect(counts()).toEqual({ exported: 0, dropped: 700 });
  expect(receiver.requests).toHaveLength(2);
});

test('[TM14] a receiver that answers nothing delays the stop by the limit and no more', async () => {
  const silent = await serveHttp(() => {});
  onTestFinished(silent.close);
  const { exporter, counts, add } = await setup(undefined, false, `${silent.origin}/`);
  add(700);
  const begun = performance.now();
  await exporter.close(50);
  // A request by itself may take ten seconds.
  expect(performance.now() - begun).toBeLessThan(8_000);
  expect(counts()).toEqual({ exported: 0, dropped: 700 });
});

test('[TM16] what is secret is taken out of what is sent', async () => {
  const { receiver, exporter } = await setup();
  exporter.add(span(1, { name: 'execute_tool canary-7f3a' }));
  await exporter.close(60_000);
  expect(receiver.requests[0]?.body).not.toContain('canary-7f3a');
  expect(receiver.problems).toEqual([]);
});
