'use client';

import { useMemo } from 'react';
import { createDevicesApi, type DevicesApi } from '#lib/api/devices-api';
import { useApi } from '../providers/workbench-context.tsx';

export function useDevicesApi(): DevicesApi {
  const { request } = useApi();
  return useMemo(() => createDevicesApi(request), [request]);
}
