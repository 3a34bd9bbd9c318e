import type { RunTrace } from '#lib/protocol/run';
import type { Clock } from '../base/clock.ts';
import { beginTurnTrace, type Spans } from '../telemetry/room.ts';
import type { LiveRun } from './live-run.ts';

interface TraceDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly spans?: Pick<Spans, 'isOn'>;
}

/** A turn that begins now is known by this trace. `parent` came in with its message. */
export function traceOfTurn(
  { clock, spans = { isOn: false } }: TraceDeps,
  run: Pick<LiveRun, 'runId' | 'older' | 'messages' | 'summary'>,
  parent: string | undefined,
): RunTrace | undefined {
  // By the place of its first message, which no other turn has.
  const key = `${run.runId} ${run.older + run.messages().length}`;
  const trace = beginTurnTrace(spans, key, parent, clock.now() / 1_000);
  const { usage } = run.summary();
  if (!trace || !usage) return trace;
  const { input_tokens, output_tokens } = usage;
  return { ...trace, before: { input_tokens, output_tokens } };
}
