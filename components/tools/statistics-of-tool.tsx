'use client';

import Link from 'next/link';
import { useLocale, useTranslations } from 'next-intl';
import { MarkedText } from '#components/ui/marked-text';
import { pathOfCall } from '#lib/call/call-address';
import { formatRelativeTime } from '#lib/format/format-relative-time';
import { isDecided } from '#lib/protocol/is-decided';
import { useClients } from '../providers/workbench-context.tsx';
import { serverNow } from '../ui/server-clock.ts';
import type { Figures, ToolUse } from './sort-statistics.ts';
import { useFormatFigures } from './use-format-figures.ts';

const LIST = { role: 'list' };

/** How one tool did: its figures, why it failed, its last errors, and each client that ran it. */
export function StatisticsOfTool({ use }: { use: ToolUse }) {
  const t = useTranslations('tools.statistics');
  const failures = Object.entries(use.failures)
    .filter(([code]) => !isDecided(code))
    .toSorted(([, a], [, b]) => b - a);
  return (
    <>
      <FigureList figures={use} />
      {failures.length > 0 && (
        <>
          <h3 className="mt-3 font-semibold">{t('byCode')}</h3>
          <ul className="mt-1 flex flex-wrap gap-x-4 gap-y-1" {...LIST}>
            {failures.map(([code, count]) => (
              <li key={code}>
                <code className="text-error wrap-anywhere">{code}</code>{' '}
                <span className="tabular-nums">{count}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {use.last_errors.length > 0 && <LastErrors errors={use.last_errors} />}
      {use.clients.length > 0 && <OfClients clients={use.clients} />}
    </>
  );
}

function FigureList({ figures }: { figures: Figures }) {
  const t = useTranslations('tools.statistics.column');
  const format = useFormatFigures();
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1">
      {format(figures).map(({ column, text }) => (
        <div key={column}>
          <dt className="text-xs text-muted">{t(column)}</dt>
          <dd className="tabular-nums">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function LastErrors({ errors }: { errors: ToolUse['last_errors'] }) {
  const t = useTranslations('tools.statistics');
  const locale = useLocale();
  return (
    <>
      <h3 className="mt-3 font-semibold">{t('lastErrors')}</h3>
      <ol className="mt-1 grid gap-2" {...LIST}>
        {errors.map(({ tool_call_id: id, at, code, message }) => (
          <li key={id}>
            <code className="text-error">{code}</code>{' '}
            <span className="text-xs text-muted">
              {formatRelativeTime(at * 1_000, serverNow(), locale)}
            </span>{' '}
            <Link href={pathOfCall(id)} className="text-xs underline underline-offset-2">
              {t('call', { id })}
            </Link>
            <p lang="" className="line-clamp-3 text-[13px] wrap-anywhere">
              <MarkedText text={message} />
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}

function OfClients({ clients }: { clients: ToolUse['clients'] }) {
  const t = useTranslations('tools.statistics');
  const connected = useClients();
  return (
    <>
      <h3 className="mt-3 font-semibold">{t('byClient')}</h3>
      <ul className="mt-1 grid gap-2" {...LIST}>
        {clients.map(({ client_id: id, ...figures }) => (
          <li key={id}>
            <p className="wrap-anywhere">
              <MarkedText text={connected.find((one) => one.client_id === id)?.name || id} />
            </p>
            <FigureList figures={figures} />
          </li>
        ))}
      </ul>
    </>
  );
}
