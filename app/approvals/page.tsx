import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { LateApprovals } from '#components/approvals/late-approvals';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('approvals');
  return { title: t('title') };
}

export default function Page() {
  return <LateApprovals />;
}
