'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { DeviceTool } from '#lib/protocol/device';
import type { WireMcpServer } from '#lib/protocol/mcp-server';
import { ToolDifference } from '../../devices/tool-difference.tsx';
import { useFailureToast } from '../../failure/format-failure.ts';
import { useAnnounce } from '../../providers/workbench-context.tsx';
import { Button } from '../../ui/button.tsx';
import { useFocusStays } from '../../ui/use-focus-stays.ts';
import { useMcpServersApi } from './use-mcp-servers.ts';

interface McpChangesProps {
  server: WireMcpServer;
  onChanged: (server: WireMcpServer) => void;
  mayDecide: boolean;
}

/** What the server offers otherwise than it was accepted: each tool with what differs. */
export function McpChanges({ server, mayDecide, onChanged }: McpChangesProps) {
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
