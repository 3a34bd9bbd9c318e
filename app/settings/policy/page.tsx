import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { PolicyPage } from '#components/settings/policy/policy-page';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('settings');
  return { title: t('policy.title') };
}

export default function Page() {
  return <PolicyPage />;
}
