'use client';

import { useTranslations } from 'next-intl';
import { useCallback, useEffect, useId, useRef, useState } from 'react';
import type { CreatedToken, WireToken } from '#lib/protocol/token';
import { copyText } from '../tool-call/copy-text.ts';
import { Button } from '../ui/button.tsx';
import { ForAdmins } from './for-admins.tsx';
import { MoreButton } from './more-button.tsx';
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

interface NewSecretProps {
  token: CreatedToken;
  onDone: () => void;
}

/** The secret of a token that was just made. This page has it now, and after that only who copied it. */
function NewSecret({ token, onDone }: NewSecretProps) {
  const t = useTranslations('settings.access');
  const common = useTranslations('common');
  const titleId = useId();
  const title = useRef<HTMLHeadingElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [copying, setCopying] = useState<'copied' | 'notCopied' | null>(null);
  useEffect(() => title.current?.focus(), []);
  const copy = async () => {
    const done = await copyText(token.secret);
    setCopying(done ? 'copied' : 'notCopied');
    if (!done) field.current?.select();
  };
  return (
    <section
      aria-labelledby={titleId}
      className="mt-3 rounded-lg border-2 border-accent bg-surface p-3"
    >
      <h2 ref={title} id={titleId} tabIndex={-1} className="font-bold outline-none wrap-anywhere">
        {t('secret.title', { name: token.name })}
      </h2>
      <p className="mt-1 font-medium">{t('secret.once')}</p>
      <div className="mt-2 flex flex-wrap gap-2">
        <input
          ref={field}
          readOnly
          autoComplete="off"
          value={token.secret}
          aria-label={t('secret.label')}
          onFocus={(event) => event.target.select()}
          className="field mono min-w-0 flex-1 basis-56"
        />
        <Button variant="primary" onClick={() => void copy()}>
          {common('copy')}
        </Button>
        <Button onClick={onDone}>{t('secret.done')}</Button>
      </div>
      <p role="status" className={`mt-1 ${copying === 'notCopied' ? 'text-error' : 'text-muted'}`}>
        {copying && t(`secret.${copying}`)}
      </p>
      <p className="mt-1 text-muted wrap-anywhere">
        {t(token.kind === 'operator' ? 'secret.forPerson' : 'secret.forProgram', {
          address: `${window.location.origin}/sign-in`,
        })}
      </p>
    </section>
  );
}
