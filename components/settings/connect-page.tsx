'use client';

import { CircleCheck } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useEffect, useId, useRef, useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { hashOfCall } from '#lib/call/call-address';
import { AGENT_PROGRAMS, type AgentProgram, agentSnippets } from '#lib/format/snippets';
import type { CreatedToken } from '#lib/protocol/token';
import type { CallsState } from '#lib/stores/calls-store';
import { useCalls, useUi } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { Choice } from './choice.tsx';
import { CopyBlock } from './copy-block.tsx';
import { ForAdmins } from './for-admins.tsx';
import { NewTokenForm } from './new-token-form.tsx';

/** Lets in a program that calls tools by MCP: a token of its own, and what to enter where. */
export function ConnectPage() {
  const t = useTranslations('settings.connect');
  return (
    <ForAdmins title={t('title')}>
      <p className="mb-4 text-muted">{t('text')}</p>
      <Connect />
    </ForAdmins>
  );
}

const ONLY_AGENTS = ['agent'] as const;

function Connect() {
  const t = useTranslations('settings.connect');
  const [shown, setShown] = useState<'button' | 'form' | CreatedToken>('form');
  if (shown === 'button') {
    return (
      <Button variant="primary" onClick={() => setShown('form')}>
        {t('another')}
      </Button>
    );
  }
  if (shown === 'form') {
    return (
      <NewTokenForm
        title={t('form')}
        kinds={ONLY_AGENTS}
        onCreated={setShown}
        onCancel={() => setShown('button')}
      />
    );
  }
  return <Snippets token={shown} onDone={() => setShown('button')} />;
}

/** The token is in them: this page has it now, and after that only who copied it. */
function Snippets({ token, onDone }: { token: CreatedToken; onDone: () => void }) {
  const t = useTranslations('settings.connect');
  const titleId = useId();
  const title = useRef<HTMLHeadingElement>(null);
  const [program, setProgram] = useState<AgentProgram>('claude-code');
  useEffect(() => title.current?.focus(), []);
  const address = window.location.origin;
  const snippets = agentSnippets(program, { address, token: token.secret });
  const isAsked = !snippets.some(({ text }) => text.includes(token.secret));
  return (
    <section
      aria-labelledby={titleId}
      className="mt-3 space-y-3 rounded-lg border-2 border-accent bg-surface p-3"
    >
      <h2 ref={title} id={titleId} tabIndex={-1} className="font-bold outline-none wrap-anywhere">
        {t('ready', { name: token.name })}
      </h2>
      <p className="font-medium">{t('once')}</p>
      <Choice
        legend={t('program')}
        name="program"
        options={AGENT_PROGRAMS}
        value={program}
        onValue={setProgram}
      >
        {(one) => t(`programs.${one}`)}
      </Choice>
      {snippets.map(({ place, text }) => (
        <CopyBlock key={place} label={place ?? t('shell')} text={text} />
      ))}
      {isAsked && <CopyBlock label={t('token')} text={token.secret} />}
      {program === 'claude-desktop' && <p className="text-muted">{t('path')}</p>}
      <FirstCall token={token} />
      <Button onClick={onDone}>{t('done')}</Button>
    </section>
  );
}

/** Whether a program that was just let in has called a tool: its first call, as soon as there is one. */
function FirstCall({ token }: { token: CreatedToken }) {
  const t = useTranslations('settings.connect');
  const show = useUi((state) => state.show);
  const caller = `agent:${token.name}`;
  const [callId, runId = '', tool = ''] = useCalls(
    useShallow((state) => firstCallOf(state, caller, token.created_at ?? 0)),
  );
  return (
    <p role="status" data-testid="first-call" className="flex items-start gap-1.5 text-muted">
      {callId === undefined ? (
        t('next', { name: token.name })
      ) : (
        <>
          <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-success" />
          <span className="min-w-0 wrap-anywhere">
            <MarkedText text={t('first', { name: token.name, tool })} />{' '}
            <Link
              href={`/?run=${encodeURIComponent(runId)}${hashOfCall(callId)}`}
              // On a phone one panel is shown at a time.
              onClick={() => show('live')}
              className="underline underline-offset-2"
            >
              {t('show')}
            </Link>
          </span>
        </>
      )}
    </p>
  );
}

/** Its id, its run and its tool. A name is free again once its token is revoked: older calls are not of this one. */
function firstCallOf({ byId }: CallsState, caller: string, since: number): readonly string[] {
  const [first] = Object.entries(byId)
    .filter(([, { card }]) => card.requested_by === caller && (card.created_at ?? 0) >= since)
    .sort(([, a], [, b]) => (a.card.created_at ?? 0) - (b.card.created_at ?? 0));
  if (!first) return [];
  const [callId, { runId, card }] = first;
  return [callId, runId, card.tool_name ?? ''];
}
