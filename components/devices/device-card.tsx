'use client';

import { Laptop, Smartphone, SquareTerminal } from 'lucide-react';
import { useLocale, useTranslations } from 'next-intl';
import { useId } from 'react';
import { formatRelativeTime } from '#lib/format/format-relative-time';
import { personName } from '#lib/format/person-name';
import type { Card } from '#lib/protocol/card';
import type { WireDevice } from '#lib/protocol/device';
import { useCalls, useHasRole, useTab } from '../providers/workbench-context.tsx';
import { useFormatTime } from '../settings/use-format-time.ts';
import { MarkedText } from '../ui/marked-text.tsx';
import { DeviceActions } from './device-actions.tsx';
import { DeviceConnections } from './device-connections.tsx';
import type { DeviceRow, Presence } from './device-row.ts';
import { presenceOf } from './device-row.ts';
import { DeviceStatistics } from './device-statistics.tsx';
import { DeviceTools } from './device-tools.tsx';
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
