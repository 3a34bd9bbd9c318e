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

/** The record of a call, which holds more than its card; its transfer ends with the last view that waits for it. */
export function useCallRecord(callId: string): FetchedCall {
  const api = useApi();
  const [record, setRecord] = useState<ApiResult<WireCallRecord> | null>(null);
  const [received, setReceived] = useState<Received | null>(null);
  useEffect(() => {
    const left = new AbortController();
    const { signal } = left;
    const onReceived = (so: Received) => signal.aborted || setReceived(so);
    void api
      .getCall(callId, onReceived, signal)
      .then((result) => signal.aborted || setRecord(result));
    return () => left.abort();
  }, [api, callId]);
  return { record, received };
}
