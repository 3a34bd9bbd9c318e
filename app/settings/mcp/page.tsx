import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { McpServersPage } from '#components/settings/mcp/mcp-servers-page';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('settings');
  return { title: t('mcp.title') };
}

export default function Page() {
  return <McpServersPage />;
}
