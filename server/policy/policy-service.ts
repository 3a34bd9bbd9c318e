import type { PolicyDecision, PolicyQuestion } from '#lib/policy/decide-policy';
import type { PolicyDefinition } from '#lib/policy/policy-definition';
import type { DryRunAnswer } from '#lib/policy/policy-wire';
import type { Marks } from '#lib/policy/taint';
import { HttpError } from '#lib/protocol/http-error';
import { parseToolReference } from '#lib/protocol/tool-name';
import { isTrusted } from '#lib/protocol/tool-source';
import { mapTexts, redacted } from '#lib/text/redact';
import type { ToolFacts } from '../approvals/room.ts';
import type { ToolRegistry } from '../tools/room.ts';

/** A limit for one call, and what is left of it. */
export type LimitLeft = DryRunAnswer['limits'][number];

export interface DryRunRequest {
  /** `name` or `name@client`. */
  readonly tool: string;
  readonly args: unknown;
  readonly caller: PolicyQuestion['caller'];
  readonly via: PolicyQuestion['via'];
  /** The level of this one counts, else that for all. */
  readonly runId: string | undefined;
  /** To be tried in place of the one that counts. */
  readonly policy: PolicyDefinition | undefined;
}

/** A policy may look at this of the one who would run a call of this name. */
export const executorOf = (
  toolName: string,
  { origin, clientId, annotations, schemaHash, configured, unchecked }: ToolFacts,
  marks: Marks,
): Omit<PolicyQuestion, 'caller' | 'via' | 'toolName' | 'args' | 'taint'> => {
  const isUntrusted = !isTrusted(origin);
  return {
    clientId,
    source: origin.source,
    isUntrusted,
    isWayOut: marks.isWayOut({ toolName, annotations, isUntrusted }),
    access: annotations.readOnlyHint === true ? 'read' : 'write',
    destructive: annotations.destructiveHint,
    schemaHash,
    configured,
    hasUncheckedArgs: unchecked !== undefined,
  };
};

interface Rules {
  decide(question: PolicyQuestion): PolicyDecision;
  left(question: PolicyQuestion): readonly LimitLeft[];
  readonly marks: Marks;
  readonly hide: (text: string) => string;
}

/** Decides on the question that a call would put now; where there could be no such call, it is refused as that would be. */
export function tryOut(
  registry: Pick<ToolRegistry, 'find'>,
  { tool: reference, args, caller, via }: DryRunRequest,
  { decide, left, marks, hide }: Rules,
): Omit<DryRunAnswer, 'caller'> & Pick<PolicyQuestion, 'caller'> {
  const tool = registry.find(reference)?.best;
  if (!tool) {
    const message = `No tool ${JSON.stringify(reference.slice(0, 128))} is offered now; GET /v1/tools lists those that are`;
    throw new HttpError('tool_not_found', message);
  }
  const checked = tool.check(args);
  if (!checked.ok) {
    const message = `The arguments do not fit ${reference}; such a call is refused before the policy`;
    throw new HttpError('invalid_args', message, { details: checked.details });
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
  const { effect, rule, reason } = decide(question);
  return {
    effect,
    rule,
    reason,
    tool_name: toolName,
    caller,
    via,
    client_id: question.clientId,
    access: question.access,
    schema_hash: question.schemaHash,
    args: mapTexts(marked, hide),
    limits: [...left(question)],
  };
}
