import type { AutonomyLevel } from '../policy/autonomy.ts';
import type {
  DryRunAnswer,
  DryRunBody,
  PolicyStateAnswer,
  WireAutonomy,
} from '../policy/policy-wire.ts';
import type { WireAlwaysRule } from '../protocol/always.ts';

import type { Api } from './http-client.ts';

const ALWAYS = '/v1/approvals/always';

/** The policy and what was always allowed, apart from the rest: the workbench loads without it. */
export const createPolicyApi = (request: Api['request']) => ({
  getPolicy: () => request<PolicyStateAnswer>({ method: 'GET', path: '/v1/policy' }),
  /** Without a run for all; null takes away a run's own level. */
  setAutonomy: (level: AutonomyLevel | null, runId?: string) => {
    const body = runId === undefined ? { level } : { level, run_id: runId };
    return request<WireAutonomy>({ method: 'PUT', path: '/v1/policy/autonomy', body });
  },
  /** Asks what would become of a call. Nothing is called. */
  dryRun: (body: DryRunBody) =>
    request<DryRunAnswer>({ method: 'POST', path: '/v1/policy/dry-run', body }),
  /** Lists what is always allowed, oldest first. */
  listAlways: () => request<{ always: WireAlwaysRule[] }>({ method: 'GET', path: ALWAYS }),
  withdrawAlways: (id: string) =>
    request<WireAlwaysRule>({ method: 'DELETE', path: `${ALWAYS}/${encodeURIComponent(id)}` }),
});
