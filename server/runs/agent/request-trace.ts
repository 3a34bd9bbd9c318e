import { beginRequestSpan } from '../../telemetry/agent-spans.ts';
import type { RequestOutcome } from './agent.ts';
import type { Turn } from './turn.ts';

/** What a request to the model carries, and its span once it has ended. */
export function beginRequestTrace({ deps, runId, model, traceparent: parent }: Turn) {
  const { spans, clock } = deps;
  const span = beginRequestSpan(spans, parent);
  const startedAt = clock.now();
  return {
    traceparent: span ?? parent,
    end(outcome: RequestOutcome): void {
      spans.requestEnded({ runId, span, parent, model: model.ref, startedAt, outcome });
    },
  };
}
