import type { Call } from '#lib/call/call';
import { hasEnded, partsOf } from './call-parts.ts';
import { boundedLabel, counter, histogram } from './prometheus.ts';

/** Names of tools, and kinds of providers, that have a row of their own. */
const MOST_TOOLS = 200;
const MOST_SOURCES = 20;

/** What became of calls, and how long their parts took (rules TM1 to TM4). */
export function createCallMetrics() {
  const toolOf = boundedLabel(MOST_TOOLS);
  const sourceOf = boundedLabel(MOST_SOURCES);
  const ended = counter('callboard_tool_calls_total', 'Calls that ended, by outcome', [
    ...['tool', 'source', 'outcome'],
  ]);
  const duration = histogram(
    ...['callboard_tool_call_duration_seconds', 'From the request to the end', 'source'],
  );
  const phases = histogram(
    ...['callboard_tool_call_phase_seconds', 'Of ended calls, by part', 'phase'],
  );
  const approvals = counter('callboard_approvals_total', 'Decisions about calls', ['decision']);
  return {
    /** Of each state of a call that is on disk, and the one before. */
    observe(call: Call, previous: Call | undefined) {
      const decision = decisionOf(call, previous);
      if (decision !== undefined) approvals.add(decision);
      if (!hasEnded(call, previous)) return;
      const source = sourceOf(call.source);
      ended.add(toolOf(call.toolName), source, call.error?.code ?? 'ok');
      const end = call.completedAt ?? call.createdAt;
      duration.observe(source, seconds(call.createdAt, end));
      for (const [phase, from, to] of partsOf(call, end)) phases.observe(phase, seconds(from, to));
    },
    text: () => [ended, duration, phases, approvals].map((metric) => metric.text()).join(''),
  };
}

/** Wall times: a clock that was set back gives nothing below zero. */
const seconds = (from: number, to: number): number => Math.max(0, to - from) / 1_000;

function decisionOf(call: Call, previous: Call | undefined): string | undefined {
  const { approval_decision: decided } = call.card;
  if (decided && previous?.card.approval_decision === undefined) return decided.decision;
  const isNew = previous?.error === undefined;
  return isNew && call.error?.code === 'approval_expired' ? 'expired' : undefined;
}
