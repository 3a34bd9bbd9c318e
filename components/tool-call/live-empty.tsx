'use client';

import { Copy } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { IconButton } from '#components/ui/icon-button';
import { curlCommand } from '#lib/format/curl-command';
import { useTools } from '../providers/workbench-context.tsx';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { showErrorToast, showToast } from '../ui/toast.ts';
import { copyText } from './copy-text.ts';

/** A first call to try from a terminal, on a tool that needs no network where there is one. */
const SAMPLES: readonly { tool: string; args: Record<string, unknown> }[] = [
  { tool: 'calculation.eval', args: { expression: '6 * 7' } },
  { tool: 'device.info', args: {} },
];

/** What to do when there is no call yet. */
export function LiveEmpty() {
  const t = useTranslations('card');
  const tools = useTools();
  const known = SAMPLES.find((one) => tools.some((tool) => tool.name === one.tool));
  const sample = known ?? { tool: tools[0]?.name ?? 'calculation.eval', args: {} };
  const command = curlCommand({
    origin: typeof window === 'undefined' ? '' : window.location.origin,
    tool: sample.tool,
    runId: 'run_first',
    args: sample.args,
  });
  const copy = async () => {
    if (await copyText(command)) showToast(t('action.copied'));
    else showErrorToast(t('action.notCopied'));
  };
  return (
    <div className="mx-4 rounded-lg border border-dashed border-linestrong p-4">
      <h3 className="font-semibold">{t('list.empty')}</h3>
      <p className="mt-1 text-muted">{t('list.emptyText')}</p>
      <div className="mt-2 flex items-start gap-1 rounded-md bg-surface2">
        <ScrollRegion label={t('list.copy')} className="min-w-0 flex-1">
          <pre className="mono p-2">{command}</pre>
        </ScrollRegion>
        <IconButton label={t('list.copy')} onClick={() => void copy()}>
          <Copy aria-hidden className="size-4" />
        </IconButton>
      </div>
    </div>
  );
}
