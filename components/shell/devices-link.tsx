'use client';

import { Smartphone } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useEffect, useRef } from 'react';
import { useAnnounce, useDevicesWaiting } from '../providers/workbench-context.tsx';

/** What of pairing waits for a person, on every page; nothing while nothing does. */
export function DevicesLink() {
  const t = useTranslations('devices');
  const announce = useAnnounce();
  const { asking, waiting } = useDevicesWaiting();
  const text = t('badge', { asking, waiting, both: String(asking > 0 && waiting > 0) });
  const before = useRef(0);
  useEffect(() => {
    // That fewer wait is no news: a person has just decided.
    if (asking + waiting > before.current) announce(text);
    before.current = asking + waiting;
  }, [asking, waiting, text, announce]);
  if (asking + waiting === 0) return null;
  return (
    <Link
      href="/devices"
      data-testid="devices-waiting"
      title={text}
      className="btn btn-sm shrink-0 bg-waitbg text-wait tabular-nums"
    >
      <Smartphone aria-hidden className="size-4" />
      <span className="sr-only">{text}</span>
      <span aria-hidden>{asking + waiting}</span>
    </Link>
  );
}
