import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { ConnectPage } from '#components/settings/connect-page';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('settings');
  return { title: t('connect.title') };
}

export default function Page() {
  return <ConnectPage />;
}
