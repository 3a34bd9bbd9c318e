'use client';

import { useTranslations } from 'next-intl';
import type { WireMcpServer } from '#lib/protocol/mcp-server';
import { MarkedText } from '../../ui/marked-text.tsx';

/** The tools of a server, each with what becomes of its calls; and those that are refused, with the reason. */
export function McpTools({ server }: { server: WireMcpServer }) {
  const t = useTranslations('settings.mcp');
  const { tools, changes, rejected, rejected_count: refused = rejected.length } = server;
  if (tools.length === 0 && refused === 0) {
    return <p className="mt-1 text-[13px] text-muted">{t('noTools')}</p>;
  }
  const counts = [
    t('tools', { count: tools.length }),
    ...(changes.length > 0 ? [t('withheldCount', { count: changes.length })] : []),
    ...(refused > 0 ? [t('refusedCount', { count: refused })] : []),
  ];
  return (
    <details className="mt-1">
      <summary className="min-h-6 text-[13px] pointer-coarse:min-h-11">
        {counts.join(' · ')}
      </summary>
      <ul className="mt-1 max-h-96 space-y-0.5 overflow-y-auto text-[13px]">
        {tools.map((tool) => (
          <Tool key={tool.name} id={server.id} tool={tool} />
        ))}
      </ul>
      {refused > 0 && <Refused rejected={rejected} count={refused} />}
    </details>
  );
}

interface ToolProps {
  id: string;
  tool: WireMcpServer['tools'][number];
}

function Tool({ id, tool: { name, foreign_name, effect, is_default, is_withheld } }: ToolProps) {
  const t = useTranslations('settings.mcp');
  return (
    <li className="flex flex-wrap gap-x-2">
      <span className="mono wrap-anywhere">
        <MarkedText text={name} />
      </span>
      {name !== `${id}.${foreign_name}` && (
        <span className="text-muted wrap-anywhere">
          <MarkedText text={t('atServer', { name: foreign_name })} />
        </span>
      )}
      <span className={effect === 'deny' ? 'text-error' : 'text-muted'}>
        {t(`effect.${is_default ? 'default' : effect}`)}
      </span>
      {is_withheld && <span className="text-wait">{t('withheld')}</span>}
    </li>
  );
}

interface RefusedProps {
  rejected: WireMcpServer['rejected'];
  count: number;
}

function Refused({ rejected, count }: RefusedProps) {
  const t = useTranslations('settings.mcp');
  const keyed = rejected.map((one, at) => [`${at} ${one.name}`, one] as const);
  return (
    <section aria-label={t('refused')} className="mt-2 text-[13px]">
      <h3 className="font-semibold">{t('refused')}</h3>
      <ul className="space-y-0.5">
        {keyed.map(([key, { name, message }]) => (
          <li key={key} className="wrap-anywhere">
            <span className="mono">
              <MarkedText text={name} />
            </span>{' '}
            <span className="text-error">
              <MarkedText text={message} />
            </span>
          </li>
        ))}
      </ul>
      {count > rejected.length && (
        <p className="text-muted">{t('moreRefused', { count: count - rejected.length })}</p>
      )}
    </section>
  );
}
