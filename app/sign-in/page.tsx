import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { SignInForm } from '#components/sign-in/sign-in-form';
import { toInternalPath } from '#lib/api/internal-path';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('signIn');
  return { title: t('pageTitle') };
}

interface SignInPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function SignInPage({ searchParams }: SignInPageProps) {
  const { expired, next } = await searchParams;
  // The server sends `expired=1` for a link that is used up; the workbench, when its session ended.
  const reason = expired === undefined ? null : expired === 'session' ? 'ended' : 'linkUsed';
  return <SignInForm reason={reason} next={toInternalPath(next)} />;
}
