import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { ToolsPage } from '#components/tools/tools-page';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('shell.nav');
  return { title: t('tools') };
}

export default function Page() {
  return (
    <NuqsAdapter>
      <ToolsPage />
    </NuqsAdapter>
  );
}
