import type { PolicyQuestion } from '#lib/policy/policy-question';
import type { CheckRequest } from '../calls/check.ts';

/** What a policy may look at of the one who would run a call. */
export const executorOf = ({
  clientId,
  annotations,
  schemaHash,
}: CheckRequest['tool']): Pick<PolicyQuestion, 'clientId' | 'access' | 'schemaHash'> => ({
  clientId,
  access: annotations.readOnlyHint === true ? 'read' : 'write',
  schemaHash,
});
