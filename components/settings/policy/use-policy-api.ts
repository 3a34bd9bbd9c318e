'use client';

import { useMemo } from 'react';
import { createPolicyApi } from '#lib/api/policy-api';
import { useApi } from '../../providers/workbench-context.tsx';

export function usePolicyApi() {
  const { request } = useApi();
  return useMemo(() => createPolicyApi(request), [request]);
}
