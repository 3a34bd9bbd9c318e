import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { ApiReference } from '#components/docs/api-reference';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('docs');
  return { title: t('pageTitle') };
}

export default function DocsPage() {
  return <ApiReference />;
}
