'use client';

import { useTranslations } from 'next-intl';
import type { WireMcpServer } from '#lib/protocol/mcp-server';
import { useFormatFailure } from '../../failure/format-failure.ts';
import { ViewerNote } from '../../shell/viewer-note.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyBlock } from '../copy-block.tsx';
import { McpServerRow } from './mcp-server-row.tsx';
import { useMcpServers } from './use-mcp-servers.ts';

const LIST = { role: 'list' };

/** The servers of the configuration whose tools are offered here, and what of them waits for a person. */
export function McpServersPage() {
  const t = useTranslations('settings.mcp');
  const common = useTranslations('common');
  const formatFailure = useFormatFailure();
  const { value: servers, failure, again, change } = useMcpServers();
  const changed = (server: WireMcpServer) =>
    change((before) => before.map((one) => (one.id === server.id ? server : one)));
  return (
    <>
      <h1 className="mb-1 text-lg font-bold">{t('title')}</h1>
      <p className="mb-4 text-muted">{t('text')}</p>
      <ViewerNote />
      {failure && (
        <div role="alert" className="mb-2 text-error wrap-anywhere">
          {formatFailure(failure)} {servers !== null && t('stale')}{' '}
          <Button size="sm" onClick={again}>
            {common('again')}
          </Button>
        </div>
      )}
      {servers === null && !failure && (
        <p role="status" className="text-muted">
          {common('loading')}
        </p>
      )}
      {servers?.length === 0 && <NoServers />}
      {servers !== null && servers.length > 0 && (
        <ol aria-label={t('list')} className="flex flex-col gap-3" {...LIST}>
          {servers.map((server) => (
            <li key={server.id}>
              <McpServerRow server={server} onChanged={changed} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

const EXAMPLE = {
  mcp_servers: {
    files: {
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/share'],
      tools: { 'read_*': 'allow', '*': 'ask' },
    },
    tickets: {
      url: 'https://mcp.example/mcp',
      headers: { Authorization: 'Bearer $' + '{env:TICKETS_TOKEN}' },
    },
  },
};

function NoServers() {
  const t = useTranslations('settings.mcp');
  return (
    <section className="rounded-lg border border-line bg-surface p-3">
      <h2 className="font-semibold">{t('none')}</h2>
      <p className="mb-2 text-muted">{t('noneText')}</p>
      <CopyBlock label={t('example')} text={JSON.stringify(EXAMPLE, null, 2)} />
    </section>
  );
}
