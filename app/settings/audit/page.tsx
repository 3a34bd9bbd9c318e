import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { AuditPage } from '#components/settings/audit-page';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('settings');
  return { title: t('audit.title') };
}

export default function Page() {
  return (
    <NuqsAdapter>
      <AuditPage />
    </NuqsAdapter>
  );
}
