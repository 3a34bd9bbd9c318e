'use client';

import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';

const PAGES = ['access', 'connect', 'mcp', 'push', 'deliveries', 'policy', 'audit'] as const;

/** What the pages of the settings have in common: the way from one to the other. */
export function SettingsFrame({ children }: { children: ReactNode }) {
  const t = useTranslations('settings');
  const pathname = usePathname();
  return (
    <div className="mx-auto max-w-4xl p-4">
      <nav aria-label={t('label')} className="mb-4 flex flex-wrap gap-1 border-b border-line">
        {PAGES.map((name) => (
          <Link
            key={name}
            href={`/settings/${name}`}
            aria-current={pathname === `/settings/${name}` ? 'page' : undefined}
            className="-mb-px inline-flex min-h-8 items-center border-b-2 border-transparent px-2 py-1 hover:border-line aria-[current]:border-fg aria-[current]:font-semibold pointer-coarse:min-h-11"
          >
            {t(`${name}.title`)}
          </Link>
        ))}
      </nav>
      {children}
    </div>
  );
}
