import type { AutonomyLevel } from '../policy/autonomy.ts';
import type {
  DryRunAnswer,
  DryRunBody,
  PolicyStateAnswer,
  WireAutonomy,
} from '../policy/policy-wire.ts';
import type { WireAlwaysRule } from '../protocol/rest.ts';
import type { ApiResult } from './api-result.ts';
import type { Api } from './http-client.ts';

/** The policy and what was always allowed, apart from the rest: the workbench loads without it. */
export interface PolicyApi {
  getPolicy(): Promise<ApiResult<PolicyStateAnswer>>;
  /** Without a run for all; null takes away a run's own level. */
  setAutonomy(level: AutonomyLevel | null, runId?: string): Promise<ApiResult<WireAutonomy>>;
  /** What would become of a call. Nothing is called. */
  dryRun(body: DryRunBody): Promise<ApiResult<DryRunAnswer>>;
  /** What is always allowed, oldest first. */
  listAlways(): Promise<ApiResult<{ always: WireAlwaysRule[] }>>;
  withdrawAlways(id: string): Promise<ApiResult<WireAlwaysRule>>;
}

const ALWAYS = '/v1/approvals/always';

export const createPolicyApi = (request: Api['request']): PolicyApi => ({
  getPolicy: () => request({ method: 'GET', path: '/v1/policy' }),
  setAutonomy: (level, runId) => {
    const body = runId === undefined ? { level } : { level, run_id: runId };
    return request({ method: 'PUT', path: '/v1/policy/autonomy', body });
  },
  dryRun: (body) => request({ method: 'POST', path: '/v1/policy/dry-run', body }),
  listAlways: () => request({ method: 'GET', path: ALWAYS }),
  withdrawAlways: (id) =>
    request({ method: 'DELETE', path: `${ALWAYS}/${encodeURIComponent(id)}` }),
});
