'use client';

import { useEffect, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import type { Received } from '#lib/api/send-request';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { useApi } from '../providers/workbench-context.tsx';

export interface FetchedCall {
  /** Null while it is fetched. */
  readonly record: ApiResult<WireCallRecord> | null;
  /** How much has come so far; null before its first bytes. */
  readonly received: Received | null;
}

/** The record of a call, which holds more than its card. */
export function useCallRecord(callId: string): FetchedCall {
  const api = useApi();
  const [record, setRecord] = useState<ApiResult<WireCallRecord> | null>(null);
  const [received, setReceived] = useState<Received | null>(null);
  useEffect(() => {
    let isWanted = true;
    const onReceived = (so: Received) => isWanted && setReceived(so);
    void api.getCall(callId, onReceived).then((result) => isWanted && setRecord(result));
    return () => {
      isWanted = false;
    };
  }, [api, callId]);
  return { record, received };
}
