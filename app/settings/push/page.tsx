import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { PushPage } from '#components/settings/push/push-page';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('settings');
  return { title: t('push.title') };
}

export default function Page() {
  return <PushPage />;
}
