'use client';

import { useTranslations } from 'next-intl';
import { MarkedText } from '#components/ui/marked-text';
import { formatCountdown } from '#lib/format/format-duration';
import { useNow } from '../shell/use-now.ts';
import type { BlockedClient } from './blocked-clients.ts';

/** Rows before the rest is only counted. */
const MAX_SHOWN = 3;

/** Whom a queued call waits for, and why none of them is asked now. */
export function BlockedSentence({ clients }: { clients: readonly BlockedClient[] }) {
  const t = useTranslations('card.tip.blocked');
  const now = useNow(clients.some(({ kind }) => kind === 'tripped'));
  const more = clients.length - MAX_SHOWN;
  return (
    <div className="mt-0.5 text-wait wrap-anywhere" data-testid="card-blocked">
      {clients.slice(0, MAX_SHOWN).map((client) => (
        <p key={client.id}>
          <MarkedText text={words(client, t, now)} />
        </p>
      ))}
      {more > 0 && <p>{t('more', { count: more })}</p>}
    </div>
  );
}

function words(
  client: BlockedClient,
  t: ReturnType<typeof useTranslations<'card.tip.blocked'>>,
  now: number,
): string {
  const { name } = client;
  if (client.kind === 'silent') return t('silent', { client: name });
  const { failures } = client;
  const leftMs = client.until * 1_000 - now;
  if (leftMs <= 0) return t('triedAgain', { client: name, failures });
  return t('tripped', { client: name, failures, time: formatCountdown(leftMs) });
}
