'use client';

import { useCallback, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import type { WireDevice } from '#lib/protocol/device';
import { useDeviceChanges } from '../providers/workbench-context.tsx';
import { useDevicesApi } from './use-devices-api.ts';
import { useRefreshed } from './use-refreshed.ts';

interface Listed {
  readonly devices: readonly WireDevice[];
  readonly next: string | null;
}

/** The devices, newest first: a first page that stays up to date, and further ones when asked for. */
export function useDevicesList() {
  const api = useDevicesApi();
  const ask = useCallback(async () => {
    const answer = await api.listDevices();
    if (!answer.ok) return answer;
    const { devices, next_cursor: next } = answer.value;
    return { ok: true as const, value: { devices, next } };
  }, [api]);
  const first = useRefreshed<Listed>(ask, useDeviceChanges());
  const [older, setOlder] = useState<Listed | null>(null);
  const [olderFailure, setOlderFailure] = useState<ApiFailure | null>(null);
  const next = older ? older.next : (first.value?.next ?? null);
  const more = async () => {
    if (next === null) return;
    const answer = await api.listDevices(next);
    setOlderFailure(answer.ok ? null : answer);
    if (!answer.ok) return;
    const { devices, next_cursor } = answer.value;
    setOlder((before) => ({
      devices: [...(before?.devices ?? []), ...devices],
      next: next_cursor,
    }));
  };
  const known = new Set(first.value?.devices.map(({ device_id }) => device_id));
  const behind = older?.devices.filter(({ device_id }) => !known.has(device_id)) ?? [];
  return {
    /** Null until the first page has come. */
    devices: first.value && [...first.value.devices, ...behind],
    failure: first.failure ?? olderFailure,
    again: first.again,
    hasMore: next !== null,
    more: () => void more(),
    change(by: (devices: readonly WireDevice[]) => readonly WireDevice[]) {
      first.change((before) => ({ ...before, devices: by(before.devices) }));
      setOlder((before) => before && { ...before, devices: by(before.devices) });
    },
  };
}
