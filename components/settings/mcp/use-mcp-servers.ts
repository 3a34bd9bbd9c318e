'use client';

import { useCallback, useMemo } from 'react';
import { createMcpServersApi } from '#lib/api/settings-api';
import type { WireMcpServer } from '#lib/protocol/mcp-server';
import { useRefreshed } from '../../devices/use-refreshed.ts';
import { useApi } from '../../providers/workbench-context.tsx';
import { useTicks } from '../use-ticks.ts';

export function useMcpServersApi() {
  const { request } = useApi();
  return useMemo(() => createMcpServersApi(request), [request]);
}

/** The servers as they are now; read again as long as the page is seen. */
export function useMcpServers() {
  const api = useMcpServersApi();
  const ask = useCallback(async () => {
    const answer = await api.list();
    return answer.ok ? { ok: true as const, value: answer.value.servers } : answer;
  }, [api]);
  return useRefreshed<readonly WireMcpServer[]>(ask, useTicks());
}
