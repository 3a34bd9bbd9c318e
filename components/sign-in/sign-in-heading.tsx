import { useTranslations } from 'next-intl';
import { Logo } from '../shell/logo.tsx';

export function SignInHeading() {
  const t = useTranslations('signIn');
  return (
    <div className="space-y-2">
      <h1 className="flex items-center gap-2.5 text-xl font-bold">
        <Logo />
        {t('title')}
      </h1>
      <p className="text-muted">{t('text')}</p>
    </div>
  );
}
