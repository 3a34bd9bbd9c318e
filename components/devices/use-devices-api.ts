'use client';

import { useMemo } from 'react';
import { createDevicesApi } from '#lib/api/devices-api';
import { useApi } from '../providers/workbench-context.tsx';

export function useDevicesApi() {
  const { request } = useApi();
  return useMemo(() => createDevicesApi(request), [request]);
}
