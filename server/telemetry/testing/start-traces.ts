import { expect, onTestFinished } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { createErrorLog } from '../../testing/error-log.ts';
import { createTracing } from '../tracing.ts';
import { startOtlpReceiver } from './otlp-receiver.ts';

type Receiver = Awaited<ReturnType<typeof startOtlpReceiver>>;

export async function startTestReceiver(): Promise<Receiver> {
  const receiver = await startOtlpReceiver();
  onTestFinished(receiver.close);
  return receiver;
}

/** Spans that go to a receiver. */
export function traceTo(receiver: Receiver, clock: Clock, hide = (text: string) => text) {
  const tracing = createTracing({
    config: { url: `${receiver.endpoint}/v1/traces`, headers: {}, resource: {}, secrets: [] },
    ...{ version: '1', clock, logger: createErrorLog().logger, hide },
  });
  /** Sends what waits; gives what the receiver has. */
  const sent = async () => {
    await tracing.close(60_000);
    expect(receiver.problems).toEqual([]);
    return receiver;
  };
  return { tracing, sent };
}
