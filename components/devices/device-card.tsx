'use client';

import { Laptop, Smartphone, SquareTerminal } from 'lucide-react';
import { useLocale, useTranslations } from 'next-intl';
import { useId, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import { LAST_CALLS } from '#lib/api/devices-api';
import { formatDuration, formatRelativeTime } from '#lib/format/amounts';
import { personName } from '#lib/format/person-name';
import type { ListedCall } from '#lib/protocol/call-record';
import type { Card } from '#lib/protocol/card';
import type { WireDevice } from '#lib/protocol/device';
import type { ClientListing } from '#lib/protocol/watch-messages';
import { Fetched } from '../failure/fetched.tsx';
import { useCalls, useHasRole, useTab } from '../providers/workbench-context.tsx';
import { useFormatTime } from '../settings/use-format-time.ts';
import { MarkedText } from '../ui/marked-text.tsx';
import { DeviceActions } from './device-actions.tsx';
import { type DeviceRow, type Presence, presenceOf } from './device-row.ts';
import { DeviceTools } from './device-tools.tsx';
import { useDevicesApi } from './use-devices-api.ts';
import { WaitingTools } from './waiting-tools.tsx';

interface DeviceCardProps {
  row: DeviceRow;
  /** Milliseconds; ages count from it. */
  now: number;
  onChanged: (device: WireDevice) => void;
}

const ICONS = { tab: Laptop, phone: Smartphone, program: SquareTerminal } as const;

/** One device or other client: what it is, whether it is there, what it offers and how it did. */
export function DeviceCard({ row, now, onChanged }: DeviceCardProps) {
  const nameId = useId();
  const { device } = row;
  const isRevoked = device?.revoked_at != null;
  const mayDecide = useHasRole('operator');
  return (
    <article
      // Gets the focus of what was decided in it.
      tabIndex={-1}
      aria-labelledby={nameId}
      data-testid="device"
      data-client={row.clientId}
      className={`rounded-lg border border-line px-3 py-2 ${isRevoked ? '' : 'bg-surface'}`}
    >
      <Heading row={row} nameId={nameId} />
      <Facts row={row} now={now} />
      {device && device.waiting.length > 0 && !isRevoked && (
        <WaitingTools device={device} mayDecide={mayDecide} onChanged={onChanged} />
      )}
      {!isRevoked && <DeviceConnections row={row} />}
      {!isRevoked && <DeviceTools row={row} mayDecide={mayDecide} onChanged={onChanged} />}
      <DeviceStatistics row={row} now={now} />
      {mayDecide && !isRevoked && <DeviceActions row={row} onChanged={onChanged} />}
    </article>
  );
}

function Heading({ row, nameId }: { row: DeviceRow; nameId: string }) {
  const t = useTranslations('devices');
  const Icon = ICONS[row.kind];
  const isOwn = useTab().clientId === row.clientId;
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Icon aria-hidden className="size-4 shrink-0" />
      <h2 id={nameId} className="font-bold wrap-anywhere">
        <MarkedText text={row.name} />
      </h2>
      <span className="text-xs text-muted">{t(`request.kind.${row.kind}`)}</span>
      <PresenceChip presence={presenceOf(row)} />
      {!row.device && <span className="chip">{t(isOwn ? 'thisTab' : 'notPaired')}</span>}
    </div>
  );
}

const TONES: Readonly<Record<Presence, string>> = {
  online: 'bg-successbg text-success',
  visible: 'bg-successbg text-success',
  hidden: 'bg-waitbg text-wait',
  silent: 'bg-errorbg text-error',
  offline: 'bg-cancelbg text-cancel',
  revoked: 'bg-cancelbg text-cancel',
};

function PresenceChip({ presence }: { presence: Presence }) {
  const t = useTranslations('devices.presence');
  return (
    <span className={`chip ${TONES[presence]}`} data-testid="presence" data-presence={presence}>
      {t(presence)}
    </span>
  );
}

function Facts({ row, now }: { row: DeviceRow; now: number }) {
  const t = useTranslations('devices');
  const locale = useLocale();
  const formatTime = useFormatTime();
  const { device, instances } = row;
  const open = useCalls(({ order, byId }) =>
    order.reduce((count, id) => count + Number(isRunningAt(byId[id]?.card, row.clientId)), 0),
  );
  const seen = device?.last_seen_at;
  const ago = (seconds: number) => formatRelativeTime(seconds * 1_000, now, locale);
  const parts = [
    device?.browser,
    device?.origin,
    instances.length > 0 && t('connected', { ago: ago(oldest(instances)) }),
    instances.length === 0 && seen != null && t('seen', { ago: ago(seen) }),
    device && instances.length === 0 && seen === null && t('neverSeen'),
    device && t('paired', { time: formatTime(device.paired_at), by: personName(device.paired_by) }),
    device?.revoked_at != null && t('revokedAt', { time: formatTime(device.revoked_at) }),
    open > 0 && t('inFlight', { count: open }),
  ].filter((part) => typeof part === 'string' && part !== '');
  return (
    <p className="mt-1 text-[13px] text-muted wrap-anywhere">
      <MarkedText text={parts.join(' · ')} />
    </p>
  );
}

const oldest = (instances: DeviceRow['instances']): number =>
  Math.min(...instances.map(({ connected_at }) => connected_at));

const isRunningAt = (card: Card | undefined, clientId: string): boolean =>
  card?.client_id === clientId && card.status === 'DOING';

/** What each connection reports of itself: seen or not, battery, latency, transport, context. */
function DeviceConnections({ row }: { row: DeviceRow }) {
  const t = useTranslations('devices.connection');
  if (row.instances.length === 0) return null;
  return (
    <ul aria-label={t('label')} className="mt-1 text-[13px]">
      {row.instances.map((instance, at) => (
        // Instances have no id on the wire; their order is stable.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={at}>
          <Connection instance={instance} />
        </li>
      ))}
    </ul>
  );
}

function Connection({ instance }: { instance: ClientListing }) {
  const t = useTranslations('devices.connection');
  const locale = useLocale();
  const { kind, visible, responsive, battery, latency_ms, secure_context } = instance;
  const level = battery && Math.round(battery.level * 100);
  return [
    kind !== 'program' && t(visible ? 'visible' : 'hidden'),
    !responsive && t('silent'),
    battery && t(battery.charging ? 'charging' : 'battery', { level: level ?? 0 }),
    latency_ms !== undefined && t('latency', { time: formatDuration(latency_ms, locale) }),
    secure_context === false && t('insecure'),
  ]
    .filter((part) => typeof part === 'string')
    .join(' · ');
}

/** How its newest calls went; asked for when a person opens it. */
function DeviceStatistics({ row, now }: { row: DeviceRow; now: number }) {
  const t = useTranslations('devices.statistics');
  const common = useTranslations('common');
  const api = useDevicesApi();
  const [answer, setAnswer] = useState<ApiResult<LastCalls> | null>(null);
  const look = async () => {
    const got = await api.lastCalls(row.clientId);
    setAnswer(got.ok ? { ok: true, value: summarise(got.value.tool_calls) } : got);
  };
  return (
    <details
      className="mt-1 text-[13px]"
      onToggle={({ currentTarget }) => currentTarget.open && void look()}
    >
      <summary className="min-h-6">{t('label', { count: LAST_CALLS })}</summary>
      <Fetched answer={answer} loading={<p className="text-muted">{common('loading')}</p>}>
        {(value) => <Figures value={value} now={now} />}
      </Fetched>
    </details>
  );
}

function Figures({ value, now }: { value: LastCalls; now: number }) {
  const t = useTranslations('devices.statistics');
  const locale = useLocale();
  const { ended, failed, medianMs, lastError } = value;
  if (ended === 0) return <p className="text-muted">{t('none')}</p>;
  return (
    <>
      <p className="tabular-nums">
        {t('figures', { ended, failed })}
        {medianMs !== null && ` · ${t('median', { time: formatDuration(medianMs, locale) })}`}
      </p>
      {lastError && (
        <p className="text-error wrap-anywhere">
          {t('lastError', { ago: formatRelativeTime(lastError.at * 1_000, now, locale) })}{' '}
          <span className="mono">
            <MarkedText text={lastError.tool} />
          </span>
          {': '}
          <MarkedText text={lastError.message} />
        </p>
      )}
    </>
  );
}

/** How a device did in its newest calls. Times in milliseconds. */
interface LastCalls {
  readonly ended: number;
  readonly failed: number;
  /** Of those that ran: half took so long at most; null where none did. */
  readonly medianMs: number | null;
  /** The newest failure. */
  readonly lastError: {
    readonly tool: string;
    readonly message: string;
    readonly at: number;
  } | null;
}

/** `calls` are newest first; those that have not ended do not count. */
function summarise(calls: readonly ListedCall[]): LastCalls {
  const ended = calls.filter(({ completed_at }) => completed_at !== null);
  const failed = ended.filter(({ status }) => status !== 'SUCCEEDED');
  const took = ended
    .flatMap(({ timings: { started_at, completed_at } }) =>
      started_at === null || completed_at === null ? [] : [(completed_at - started_at) * 1_000],
    )
    .toSorted((a, b) => a - b);
  const [last] = failed;
  return {
    ended: ended.length,
    failed: failed.length,
    medianMs: took[Math.floor((took.length - 1) / 2)] ?? null,
    lastError: last
      ? {
          tool: last.tool_name,
          message: last.error?.message ?? last.status,
          at: last.completed_at ?? last.created_at,
        }
      : null,
  };
}
