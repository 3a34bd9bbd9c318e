'use client';

import { RotateCw } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { FeedState } from '#lib/stores/connection-store';
import { useFeedControl } from '../providers/feed-context.tsx';
import {
  useClients,
  useConnection,
  useListingsKnown,
  useTools,
} from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { useNow } from './use-now.ts';

const DOTS: Record<FeedState['kind'], string> = {
  connected: 'bg-success',
  connecting: 'bg-wait',
  reconnecting: 'bg-wait',
  offline: 'bg-error',
  refused: 'bg-error',
};

/** A loss is shown whole, on two lines where there is no room beside it, and no word of it is broken. */
const WORDS = 'min-w-min text-sm leading-tight max-2xl:text-xs';

/** The state of the connection to the server, in words, with what is connected to it. */
export function ConnectionState() {
  const { feed, storeFailed } = useConnection();
  return (
    <div
      className="flex min-w-0 items-center gap-2"
      data-testid="connection"
      data-state={feed.kind}
    >
      <span
        aria-hidden
        className={`status-dot size-2.5 shrink-0 rounded-full ${DOTS[feed.kind]}`}
      />
      {feed.kind === 'connected' && <Connected />}
      {feed.kind === 'reconnecting' && <Reconnecting {...feed} storeFailed={storeFailed} />}
      <Plain kind={feed.kind} />
    </div>
  );
}

function Plain({ kind }: { kind: FeedState['kind'] }) {
  const t = useTranslations('shell.connection');
  if (kind === 'connected' || kind === 'reconnecting') return null;
  return <span className={WORDS}>{t(kind)}</span>;
}

/** Numbers give way first where the header is narrow. */
function Connected() {
  const t = useTranslations('shell.connection');
  const known = useListingsKnown();
  const connected = useClients().filter((client) => client.connected).length;
  const tools = useTools().length;
  return (
    <span className="truncate">
      {t('connected')}
      {known && (
        <span className="max-sm:hidden">
          {` · ${t('clients', { count: connected })} · ${t('tools', { count: tools })}`}
        </span>
      )}
    </span>
  );
}

interface ReconnectingProps {
  attempt: number;
  retryAt: number;
  storeFailed: boolean;
}

function Reconnecting({ attempt, retryAt, storeFailed }: ReconnectingProps) {
  const t = useTranslations('shell.connection');
  const advice = useTranslations('errors.request')('store_failed');
  const { retryNow } = useFeedControl();
  const seconds = Math.ceil((retryAt - useNow(true, Date.now)) / 1_000);
  return (
    <>
      {storeFailed ? (
        <span className="line-clamp-2 text-xs" title={advice}>
          {advice}
        </span>
      ) : (
        <span className={WORDS}>
          {t('reconnecting', { attempt })}
          {seconds > 0 && (
            <span className="max-sm:hidden">{` ${t('inSeconds', { seconds })}`}</span>
          )}
        </span>
      )}
      <Button size="sm" onClick={retryNow}>
        <RotateCw aria-hidden className="size-4 sm:hidden" />
        <span className="max-sm:sr-only">{t('retryNow')}</span>
      </Button>
    </>
  );
}
