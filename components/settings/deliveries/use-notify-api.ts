'use client';

import { useMemo } from 'react';
import { createNotifyApi, type NotifyApi } from '#lib/api/notify-api';
import { useApi } from '../../providers/workbench-context.tsx';

export function useNotifyApi(): NotifyApi {
  const { request } = useApi();
  return useMemo(() => createNotifyApi(request), [request]);
}
