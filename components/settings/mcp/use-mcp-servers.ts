'use client';

import { useCallback, useEffect, useMemo, useState } from 'react';
import { createMcpServersApi, type McpServersApi } from '#lib/api/mcp-servers-api';
import type { WireMcpServer } from '#lib/protocol/mcp-server';
import { useRefreshed } from '../../devices/use-refreshed.ts';
import { useApi } from '../../providers/workbench-context.tsx';

/** They change by themselves, and no event says so. */
const EACH_MS = 3_000;

export function useMcpServersApi(): McpServersApi {
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

function useTicks(): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === 'visible') setTicks((before) => before + 1);
    };
    const timer = setInterval(tick, EACH_MS);
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, []);
  return ticks;
}
