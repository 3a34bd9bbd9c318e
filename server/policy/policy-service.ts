import type { AutonomyLevel } from '#lib/policy/autonomy';
import type { PolicyDecision } from '#lib/policy/decide-policy';
import type { PolicyDefinition } from '#lib/policy/policy-definition';
import type { PolicyQuestion } from '#lib/policy/policy-question';
import type { HookState } from '#lib/policy/policy-wire';
import type { Marks } from '#lib/policy/taint';
import type { ErrorDetail } from '#lib/protocol/http-error';
import { parseToolReference } from '#lib/protocol/tool-name';
import { isTrusted } from '#lib/protocol/tool-source';
import { mapTexts, redacted } from '#lib/text/redact';
import type { ToolFacts } from '../approvals/room.ts';
import type { ToolRegistry } from '../tools/room.ts';

export interface AutonomyState {
  /** For all runs that have none of their own. */
  readonly level: AutonomyLevel;
  /** `setAt` is in milliseconds since the epoch. */
  readonly runs: readonly { runId: string; level: AutonomyLevel; setAt: number }[];
}

export interface PolicyState {
  /** The one that counts. */
  readonly definition: PolicyDefinition;
  /** The configuration file; null: there was none. */
  readonly file: string | null;
  /** Milliseconds since the epoch. */
  readonly loadedAt: number;
  /** Why the file as it is now does not count; null: it does. */
  readonly problem: string | null;
  readonly autonomy: AutonomyState;
  readonly hooks: readonly HookState[];
}

/** A limit for one call, and what is left of it. */
export interface LimitLeft {
  readonly limit: string;
  /** Calls that may be made now. */
  readonly left: number;
  /** Seconds until one more; 0 while one is left. */
  readonly retryAfter: number;
}

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

export type DryRunOutcome =
  | {
      readonly ok: true;
      readonly question: PolicyQuestion;
      readonly decision: PolicyDecision;
      readonly limits: readonly LimitLeft[];
    }
  | {
      readonly ok: false;
      readonly code: 'tool_not_found' | 'invalid_args';
      readonly message: string;
      readonly details?: readonly ErrorDetail[];
    };

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
