import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { DeliveriesPage } from '#components/settings/deliveries/deliveries-page';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('settings');
  return { title: t('deliveries.title') };
}

export default function Page() {
  return <DeliveriesPage />;
}
