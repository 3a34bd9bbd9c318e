'use client';

import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { isAt, PAGES } from './pages.ts';

/** The pages, side by side. */
export function NavLinks() {
  const t = useTranslations('shell.nav');
  const pathname = usePathname();
  return (
    <nav aria-label={t('label')} className="flex items-center gap-1">
      {PAGES.map(({ href, name }) => (
        <Link
          key={href}
          href={href}
          aria-current={isAt(href, pathname) ? 'page' : undefined}
          className="border-b-2 border-transparent px-1 py-1 2xl:px-1.5 hover:border-line aria-[current]:border-fg aria-[current]:font-semibold"
        >
          {t(name)}
        </Link>
      ))}
    </nav>
  );
}
