'use client';

import { useTranslations } from 'next-intl';
import { useCallback, useEffect, useId, useRef, useState } from 'react';
import type { CreatedToken, WireToken } from '#lib/protocol/token';
import { Button } from '../ui/button.tsx';
import { ForAdmins } from './for-admins.tsx';
import { MoreButton } from './more-button.tsx';
import { NewSecret } from './new-secret.tsx';
import { NewTokenForm } from './new-token-form.tsx';
import { TokenRow } from './token-row.tsx';
import { useAccessApi } from './use-access-api.ts';
import { type AskPage, usePages } from './use-pages.ts';

/** Who may get in: the tokens of people and programs. */
export function AccessPage() {
  const t = useTranslations('settings.access');
  return (
    <ForAdmins title={t('title')}>
      <p className="mb-4 text-muted">{t('text')}</p>
      <Tokens />
    </ForAdmins>
  );
}

const LIST = { role: 'list' };

function Tokens() {
  const t = useTranslations('settings.access');
  const api = useAccessApi();
  const titleId = useId();
  const ask = useCallback<AskPage<WireToken, string>>(
    async (cursor) => {
      const answer = await api.listTokens(cursor);
      if (!answer.ok) return answer;
      const { tokens, next_cursor } = answer.value;
      return { ok: true, value: { items: tokens, next: next_cursor } };
    },
    [api],
  );
  const pages = usePages(ask);
  return (
    <>
      <NewToken onCreated={(token) => pages.change((items) => withNew(items, token))} />
      <section aria-labelledby={titleId} className="mt-6">
        <h2 id={titleId} className="text-base font-bold">
          {t('list')}
        </h2>
        <ol className="mt-2 flex flex-col gap-2" {...LIST}>
          {pages.items?.map((token) => (
            <li key={token.id}>
              <TokenRow
                token={token}
                onRevoked={(revoked) => pages.change((items) => withChanged(items, revoked))}
              />
            </li>
          ))}
        </ol>
        <MoreButton pages={pages} />
      </section>
    </>
  );
}

/** Newest first, behind that of the first run. */
const withNew = (items: readonly WireToken[], { secret: _, ...token }: CreatedToken) => [
  ...items.filter((one) => one.built_in),
  token,
  ...items.filter((one) => !one.built_in),
];

const withChanged = (items: readonly WireToken[], changed: WireToken) =>
  items.map((one) => (one.id === changed.id ? changed : one));

/** The button, the form behind it, and then the secret that came of it. */
function NewToken({ onCreated }: { onCreated: (token: CreatedToken) => void }) {
  const t = useTranslations('settings.access');
  const [shown, setShown] = useState<'button' | 'form' | CreatedToken>('button');
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  const isOpen = shown !== 'button';
  useEffect(() => {
    // What had the focus is not there any more.
    if (!isOpen && wasOpen.current) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  const close = () => setShown('button');
  return (
    <>
      <Button
        ref={button}
        variant="primary"
        aria-expanded={isOpen}
        // The secret is shown once: it goes by its own button alone.
        disabled={typeof shown === 'object'}
        onClick={() => setShown(isOpen ? 'button' : 'form')}
      >
        {t('new')}
      </Button>
      {shown === 'form' && (
        <NewTokenForm
          onCancel={close}
          onCreated={(token) => {
            setShown(token);
            onCreated(token);
          }}
        />
      )}
      {typeof shown === 'object' && <NewSecret token={shown} onDone={close} />}
    </>
  );
}
