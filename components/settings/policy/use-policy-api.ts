'use client';

import { useMemo } from 'react';
import { createPolicyApi, type PolicyApi } from '#lib/api/policy-api';
import { useApi } from '../../providers/workbench-context.tsx';

export function usePolicyApi(): PolicyApi {
  const { request } = useApi();
  return useMemo(() => createPolicyApi(request), [request]);
}
