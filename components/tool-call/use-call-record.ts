'use client';

import { useEffect, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { useApi } from '../providers/workbench-context.tsx';

/** The record of a call, which holds more than its card. Null while it is fetched. */
export function useCallRecord(callId: string): ApiResult<WireCallRecord> | null {
  const api = useApi();
  const [record, setRecord] = useState<ApiResult<WireCallRecord> | null>(null);
  useEffect(() => {
    let isWanted = true;
    void api.getCall(callId).then((result) => isWanted && setRecord(result));
    return () => {
      isWanted = false;
    };
  }, [api, callId]);
  return record;
}
