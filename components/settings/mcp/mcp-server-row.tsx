'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useId, useState } from 'react';
import { formatRelativeTime } from '#lib/format/amounts';
import type { DeviceTool } from '#lib/protocol/device';
import type { WireMcpServer } from '#lib/protocol/mcp-server';
import { ToolDifference } from '../../devices/tool-difference.tsx';
import { useFailureToast } from '../../failure/format-failure.ts';
import { useAnnounce, useHasRole } from '../../providers/workbench-context.tsx';
import { useNow } from '../../shell/use-now.ts';
import { Button } from '../../ui/button.tsx';
import { MarkedText } from '../../ui/marked-text.tsx';
import { useFocusStays } from '../../ui/use-focus-stays.ts';
import { McpTools } from './mcp-tools.tsx';
import { useMcpServersApi } from './use-mcp-servers.ts';

interface McpServerRowProps {
  server: WireMcpServer;
  onChanged: (server: WireMcpServer) => void;
}

/** One server: how it is reached, its state, its tools, and what went wrong. */
export function McpServerRow({ server, onChanged }: McpServerRowProps) {
  const t = useTranslations('settings.mcp');
  const nameId = useId();
  const mayDecide = useHasRole('operator');
  return (
    <article
      aria-labelledby={nameId}
      data-testid="mcp-server"
      data-id={server.id}
      className="rounded-lg border border-line bg-surface px-3 py-2"
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 id={nameId} className="mono font-bold">
          {server.id}
        </h2>
        <State server={server} />
        <span className="flex-1" />
        {mayDecide && <Reconnect server={server} onChanged={onChanged} />}
      </div>
      <p className="text-[13px] text-muted wrap-anywhere">
        {t(server.transport === 'http' ? 'address' : 'program')}{' '}
        <span className="mono">
          <MarkedText text={server.target} />
        </span>
      </p>
      <Speaks server={server} />
      <LastError server={server} />
      <LastLine server={server} />
      {server.changes.length > 0 && (
        <McpChanges server={server} mayDecide={mayDecide} onChanged={onChanged} />
      )}
      <McpTools server={server} />
      {server.stderr_tail && (
        <details className="mt-1">
          <summary className="min-h-6 text-[13px] pointer-coarse:min-h-11">{t('output')}</summary>
          <section
            aria-label={t('output')}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must take the focus (axe: scrollable-region-focusable).
            tabIndex={0}
            className="mt-1 max-h-72 overflow-auto rounded border border-line bg-bg p-2"
          >
            <pre className="mono text-[13px] whitespace-pre-wrap wrap-anywhere">
              <MarkedText text={server.stderr_tail} keepLayout />
            </pre>
          </section>
        </details>
      )}
    </article>
  );
}

const TONES = {
  connecting: 'text-wait',
  connected: 'text-success',
  waiting: 'text-wait',
  failed: 'text-error',
  stopped: 'text-muted',
} as const;

function State({ server: { state, next_try_at } }: { server: WireMcpServer }) {
  const t = useTranslations('settings.mcp');
  const locale = useLocale();
  const now = useNow(next_try_at !== null);
  return (
    <span className={`text-[13px] ${TONES[state]}`} data-testid="mcp-state">
      {t(`state.${state}`)}
      {next_try_at !== null && (
        <span className="text-muted">
          {' · '}
          {t('nextTry', { when: formatRelativeTime(next_try_at * 1_000, now, locale) })}
        </span>
      )}
    </span>
  );
}

function Speaks({ server: { protocol, server } }: { server: WireMcpServer }) {
  const t = useTranslations('settings.mcp');
  if (protocol === null) return null;
  return (
    <p className="text-[13px] text-muted wrap-anywhere">
      {server ? (
        <MarkedText text={t('speaks', { ...server, protocol })} />
      ) : (
        <MarkedText text={t('protocol', { protocol })} />
      )}
    </p>
  );
}

/** A program may take minutes to start: its last line says what it does meanwhile. */
function LastLine({ server: { state, stderr_tail: output } }: { server: WireMcpServer }) {
  const line = state === 'connecting' ? output?.trimEnd().split('\n').at(-1) : undefined;
  if (!line) return null;
  return (
    <p className="mono mt-1 text-[13px] text-muted wrap-anywhere" data-testid="mcp-last-line">
      <MarkedText text={line} />
    </p>
  );
}

function LastError({ server: { last_error: error } }: { server: WireMcpServer }) {
  const t = useTranslations('settings.mcp');
  const locale = useLocale();
  const now = useNow(error !== null);
  if (!error) return null;
  const when = formatRelativeTime(error.at * 1_000, now, locale);
  return (
    <p className="mt-1 text-[13px] wrap-anywhere">
      <span className="text-muted">{t('lastError', { when })}: </span>
      <span className="text-error">
        <MarkedText text={error.message} keepLayout />
      </span>
    </p>
  );
}

function Reconnect({ server: { id }, onChanged }: McpServerRowProps) {
  const t = useTranslations('settings.mcp');
  const api = useMcpServersApi();
  const showFailure = useFailureToast();
  const announce = useAnnounce();
  const [isSending, setSending] = useState(false);
  const reconnect = async () => {
    if (isSending) return;
    setSending(true);
    const answer = await api.reconnect(id);
    setSending(false);
    if (!answer.ok) return showFailure(t('notReconnected', { name: id }), answer);
    onChanged(answer.value);
    announce(t('reconnecting', { name: id }));
  };
  return (
    <Button
      size="sm"
      aria-disabled={isSending}
      aria-label={t('reconnectNamed', { name: id })}
      onClick={() => void reconnect()}
    >
      {t('reconnect')}
    </Button>
  );
}

interface McpChangesProps {
  server: WireMcpServer;
  onChanged: (server: WireMcpServer) => void;
  mayDecide: boolean;
}

/** What the server offers otherwise than it was accepted: each tool with what differs. */
function McpChanges({ server, mayDecide, onChanged }: McpChangesProps) {
  const t = useTranslations('settings.mcp');
  const api = useMcpServersApi();
  const showFailure = useFailureToast();
  const announce = useAnnounce();
  const [isSending, setSending] = useState(false);
  const accept = async ({ hash, name }: DeviceTool) => {
    if (isSending) return;
    setSending(true);
    const answer = await api.accept(server.id, [hash]);
    setSending(false);
    if (!answer.ok) return showFailure(t('notAccepted'), answer);
    onChanged(answer.value);
    announce(t('accepted', { name }));
  };
  return (
    <section aria-label={t('changes')} className="mt-2 rounded border border-wait bg-waitbg/40 p-2">
      <h3 className="font-semibold">{t('changesTitle', { count: server.changes.length })}</h3>
      <ul className="mt-1 space-y-2">
        {server.changes.map(({ tool, before }) => (
          <Change key={tool.hash} tool={tool} before={before}>
            {mayDecide && (
              <Button
                size="sm"
                variant="primary"
                className="mt-1"
                aria-disabled={isSending}
                aria-label={t('acceptNamed', { name: tool.name })}
                onClick={() => void accept(tool)}
              >
                {t('accept')}
              </Button>
            )}
          </Change>
        ))}
      </ul>
    </section>
  );
}

interface ChangeProps {
  tool: DeviceTool;
  before: DeviceTool;
  children: React.ReactNode;
}

function Change({ tool, before, children }: ChangeProps) {
  const item = useFocusStays<HTMLLIElement>();
  return (
    <li ref={item} data-testid="mcp-change" data-tool={tool.name}>
      <ToolDifference tool={tool} before={before} />
      {children}
    </li>
  );
}
