import type { PolicyQuestion } from '#lib/policy/policy-question';
import type { Marks } from '#lib/policy/taint';
import { isTrusted } from '#lib/protocol/tool-source';
import type { ToolFacts } from '../approvals/room.ts';

/** What a policy may look at of the one who would run a call of this name. */
export const executorOf = (
  toolName: string,
  { origin, clientId, annotations, schemaHash, configured }: ToolFacts,
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
  };
};
