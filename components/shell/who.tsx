'use client';

import { UserRound } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useMe } from '../providers/workbench-context.tsx';
import { Tooltip } from '../ui/tooltip.tsx';

/** Who is signed in, and as what, in words; null until that is known. */
export function useWho(): {
  readonly name: string;
  readonly role: string;
  readonly text: string;
} | null {
  const t = useTranslations('shell.me');
  const me = useMe();
  if (!me?.role) return null;
  const { name } = me;
  const role = t(`roles.${me.role}`);
  return { name, role, text: t('is', { name, role }) };
}

/** Name and role in the header; where it is narrow, a picture with them as its name. Leads to who may get in. */
export function Who() {
  const who = useWho();
  if (!who) return null;
  return (
    <Tooltip text={who.text}>
      <Link href="/settings/access" data-testid="who" className="btn btn-ghost">
        <UserRound aria-hidden className="size-4 shrink-0" />
        <span className="sr-only">{who.text}</span>
        <span
          aria-hidden
          className="hidden max-w-28 text-left text-xs leading-tight font-normal min-[1800px]:block"
        >
          <span className="block truncate font-semibold">{who.name}</span>
          <span className="block truncate text-muted">{who.role}</span>
        </span>
      </Link>
    </Tooltip>
  );
}
