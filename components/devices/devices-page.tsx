'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { readModelContext } from '#lib/client/web-mcp/model-context';
import { formatRelativeTime } from '#lib/format/amounts';
import type { WireDevice, WirePairing } from '#lib/protocol/device';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useWebMcpSwitch } from '../providers/use-web-mcp.ts';
import {
  useAnnounce,
  useClients,
  useConnection,
  useDeviceChanges,
  useHasRole,
  useListingsKnown,
} from '../providers/workbench-context.tsx';
import { useNow } from '../shell/use-now.ts';
import { Button } from '../ui/button.tsx';
import { late } from '../ui/late.tsx';
import { BlockedOrigins } from './blocked-origins.tsx';
import { DeviceCard } from './device-card.tsx';
import { deviceRows } from './device-row.ts';
import { PairingRequest } from './pairing-request.tsx';
import { useDevicesApi } from './use-devices-api.ts';
import { useRefreshed } from './use-refreshed.ts';

const PairDialog = late(() => import('./pair-dialog.tsx').then((module) => module.PairDialog));

/** What can be asked, who asks to be let in, and a code for another phone. */
export function DevicesPage() {
  const t = useTranslations('devices');
  const pairings = usePairings();
  const list = useDevicesList();
  const [isPairing, setPairing] = useState(false);
  const mayPair = useHasRole('operator');
  const announce = useAnnounce();
  const decided = (pairing: WirePairing) => {
    pairings.change((before) =>
      before.map((one) => (one.pairing_id === pairing.pairing_id ? pairing : one)),
    );
    list.again();
  };
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-4xl p-4">
        <div className="flex flex-wrap items-center gap-3">
          <h1 className="flex-1 text-lg font-bold">{t('title')}</h1>
          {mayPair && (
            <Button variant="primary" onClick={() => setPairing(true)}>
              {t('pairButton')}
            </Button>
          )}
        </div>
        <p className="mb-4 text-muted">{t('text')}</p>
        <Requests
          pairings={isPairing ? [] : asking(pairings.value)}
          onDecided={(pairing) => {
            decided(pairing);
            // The dialog shows and announces its own.
            announce(t(`pair.state.${pairing.state}`));
          }}
        />
        <Devices list={list} />
        {mayPair && <BlockedOrigins />}
        {mayPair && <WebMcpSwitch />}
        {isPairing && (
          <PairDialog
            pairings={pairings.value ?? []}
            onClose={() => setPairing(false)}
            onDecided={decided}
          />
        )}
      </div>
    </div>
  );
}

const asking = (pairings: readonly WirePairing[] | null): readonly WirePairing[] =>
  pairings?.filter(({ state }) => state === 'asking') ?? [];

function usePairings() {
  const api = useDevicesApi();
  const ask = useCallback(async () => {
    const answer = await api.listPairings();
    return answer.ok ? { ok: true as const, value: answer.value.pairings } : answer;
  }, [api]);
  return useRefreshed<readonly WirePairing[]>(ask, useDeviceChanges());
}

interface RequestsProps {
  pairings: readonly WirePairing[];
  onDecided: (pairing: WirePairing) => void;
}

function Requests({ pairings, onDecided }: RequestsProps) {
  const t = useTranslations('devices.request');
  if (pairings.length === 0) return null;
  return (
    <section aria-label={t('label')} className="mb-4 space-y-2">
      {pairings.map(({ request, ...pairing }) =>
        request ? (
          <PairingRequest
            key={pairing.pairing_id}
            pairing={{ ...pairing, request }}
            onDecided={onDecided}
          />
        ) : null,
      )}
    </section>
  );
}

function Devices({ list }: { list: ReturnType<typeof useDevicesList> }) {
  const t = useTranslations('devices');
  const common = useTranslations('common');
  const formatFailure = useFormatFailure();
  const clients = useClients();
  const isKnown = useListingsKnown();
  const locale = useLocale();
  const { lostAt } = useConnection();
  const counted = useNow(true);
  // Ages stand still while there is no news.
  const now = lostAt ?? counted;
  const { devices, failure, again, more, hasMore, change } = list;
  const rows = useMemo(() => deviceRows(devices ?? [], clients), [devices, clients]);
  const changed = (device: WireDevice) =>
    change((before) => before.map((one) => (one.device_id === device.device_id ? device : one)));
  return (
    <section aria-label={t('list')} className="space-y-2">
      {lostAt !== null && (
        <p role="status" className="text-wait" data-testid="devices-stale">
          {t('stale', { ago: formatRelativeTime(lostAt, counted, locale) })}
        </p>
      )}
      {failure && (
        <div role="alert" className="text-error wrap-anywhere">
          {formatFailure(failure)}{' '}
          <Button size="sm" onClick={again}>
            {common('again')}
          </Button>
        </div>
      )}
      {devices === null && !failure && (
        <p role="status" className="text-muted">
          {common('loading')}
        </p>
      )}
      {devices !== null && isKnown && rows.length === 0 && (
        <>
          <p className="font-semibold">{t('none')}</p>
          <p className="text-muted">{t('noneText')}</p>
        </>
      )}
      {rows.map((row) => (
        <DeviceCard
          key={row.device?.device_id ?? row.clientId}
          row={row}
          now={now}
          onChanged={changed}
        />
      ))}
      {hasMore && (
        <Button size="sm" onClick={more}>
          {common('showMore')}
        </Button>
      )}
    </section>
  );
}

interface Listed {
  readonly devices: readonly WireDevice[];
  readonly next: string | null;
}

/** The devices, newest first: a first page that stays up to date, and further ones when asked for. */
function useDevicesList() {
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

/** Whether this tab's tools are offered to the agent of its browser; nothing where the browser has none. */
function WebMcpSwitch() {
  const t = useTranslations('devices.webMcp');
  const { isOn, set } = useWebMcpSwitch();
  const [isThere, setThere] = useState(false);
  useEffect(() => setThere(readModelContext(document) !== undefined), []);
  if (!isThere) return null;
  return (
    <label className="mt-6 flex min-h-7 items-start gap-2 pointer-coarse:min-h-11">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => set(event.target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <span>
        {t('label')}
        <span className="block text-[13px] text-muted">{t('text')}</span>
      </span>
    </label>
  );
}
