'use client';

import { useMemo } from 'react';
import { createAccessApi } from '#lib/api/settings-api';
import { useApi } from '../providers/workbench-context.tsx';

export function useAccessApi() {
  const { request } = useApi();
  return useMemo(() => createAccessApi(request), [request]);
}
