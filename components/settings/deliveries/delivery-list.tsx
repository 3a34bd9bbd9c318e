'use client';

import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useId } from 'react';
import type { WireDelivery } from '#lib/protocol/notify';
import { Button } from '../../ui/button.tsx';
import { MarkedText } from '../../ui/marked-text.tsx';
import { MoreButton } from '../more-button.tsx';
import { useFormatTime } from '../use-format-time.ts';
import type { Pages } from '../use-pages.ts';

export interface DeliveryListProps {
  deliveries: Pages<WireDelivery>;
  mayChange: boolean;
  resend: (id: string) => Promise<void>;
  /** Whether `resend <id>` is under way. */
  isBusy: (name: string) => boolean;
}

const LIST = { role: 'list' };
/** Targets that are the browser of one person. */
const PERSONAL = 'push:';

/** What was sent, newest first, and what waits to be. */
export function DeliveryList({ deliveries, ...props }: DeliveryListProps) {
  const t = useTranslations('settings.deliveries');
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="mt-6">
      <h2 id={titleId} className="text-base font-bold">
        {t('list')}
      </h2>
      <ol className="mt-1 divide-y divide-line" {...LIST}>
        {deliveries.items?.map((delivery) => (
          <li key={delivery.id} data-testid="delivery" className="py-2 wrap-anywhere">
            <Delivery delivery={delivery} {...props} />
          </li>
        ))}
      </ol>
      <MoreButton pages={deliveries} />
    </section>
  );
}

interface DeliveryProps extends Omit<DeliveryListProps, 'deliveries'> {
  delivery: WireDelivery;
}

const STATE_LOOK: Partial<Record<WireDelivery['state'], string>> = {
  delivered: 'text-success',
  failed: 'text-error',
  dropped: 'text-error',
};

function Delivery({ delivery, mayChange, resend, isBusy }: DeliveryProps) {
  const t = useTranslations('settings.deliveries');
  const { id, target, type, about, link, state, error } = delivery;
  const label = t(state === 'open' ? 'resend.now' : 'resend.button');
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-semibold">{t(`events.${type}`)}</span>
        <Link href={link} className="underline underline-offset-2">
          <MarkedText text={about} />
        </Link>
        <span className={STATE_LOOK[state] ?? 'text-muted'}>{t(`delivery.${state}`)}</span>
      </p>
      <p className="text-[13px] text-muted">
        <Facts delivery={delivery} />
      </p>
      {error !== null && (
        <p className="text-[13px] text-error">
          <MarkedText text={error} />
        </p>
      )}
      {mayChange && !target.startsWith(PERSONAL) && (
        <Button
          size="sm"
          className="mt-1"
          aria-label={`${label}: ${t(`events.${type}`)} ${about} · ${target}`}
          aria-disabled={isBusy(`resend ${id}`)}
          onClick={() => void resend(id)}
        >
          {label}
        </Button>
      )}
    </>
  );
}

function Facts({ delivery }: { delivery: WireDelivery }) {
  const t = useTranslations('settings.deliveries');
  const formatTime = useFormatTime('medium');
  const { target, made_at, attempts, status, next_at, state, error } = delivery;
  const facts = [
    target,
    formatTime(made_at),
    attempts > 0 && t('attempts', { count: attempts }),
    // An error of an answer begins with it.
    error === null && status !== null && `HTTP ${status}`,
    state === 'open' && next_at !== null && t('next', { time: formatTime(next_at) }),
  ];
  return <MarkedText text={facts.filter(Boolean).join(' · ')} />;
}
