'use client';

import { useMemo } from 'react';
import { type AccessApi, createAccessApi } from '#lib/api/access-api';
import { useApi } from '../providers/workbench-context.tsx';

export function useAccessApi(): AccessApi {
  const { request } = useApi();
  return useMemo(() => createAccessApi(request), [request]);
}
