import type { PolicyDecision } from '#lib/policy/decide-policy';
import type { PolicyQuestion } from '#lib/policy/policy-question';
import type { Marks } from '#lib/policy/taint';
import { parseToolReference } from '#lib/protocol/tool-name';
import { mapTexts, redacted } from '#lib/text/redact';
import type { ToolRegistry } from '../tools/room.ts';
import { executorOf } from './executor-of.ts';
import type { DryRunOutcome, DryRunRequest, LimitLeft } from './policy-service.ts';

interface Rules {
  decide(question: PolicyQuestion): PolicyDecision;
  left(question: PolicyQuestion): readonly LimitLeft[];
  readonly marks: Marks;
  readonly hide: (text: string) => string;
}

/** The question that a call would put now, as far as there could be such a call, and what is decided. */
export function tryOut(
  registry: Pick<ToolRegistry, 'find'>,
  { tool: reference, args, caller, via }: DryRunRequest,
  { decide, left, marks, hide }: Rules,
): DryRunOutcome {
  const tool = registry.find(reference)?.best;
  if (!tool) {
    const message = `No tool ${JSON.stringify(reference.slice(0, 128))} is offered now; GET /v1/tools lists those that are`;
    return { ok: false, code: 'tool_not_found', message };
  }
  const checked = tool.check(args);
  if (!checked.ok) {
    const message = `The arguments do not fit ${reference}; such a call is refused before the policy`;
    return { ok: false, code: 'invalid_args', message, details: checked.details };
  }
  const toolName = parseToolReference(reference).name;
  const question = {
    caller,
    via,
    toolName,
    ...executorOf(toolName, tool, marks),
    args: checked.args,
  };
  // Decided on as a call is, and shown as a card shows it.
  const marked = tool.withhold?.(question.args, redacted('argument'))?.args ?? question.args;
  const shown = { ...question, args: mapTexts(marked, hide) };
  return { ok: true, question: shown, decision: decide(question), limits: left(question) };
}
