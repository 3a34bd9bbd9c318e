import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { AccessPage } from '#components/settings/access-page';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('settings');
  return { title: t('access.title') };
}

export default function Page() {
  return <AccessPage />;
}
