'use client';

import { useTranslations } from 'next-intl';
import { type ReactNode, useState } from 'react';
import type { DeviceTool, WireDevice } from '#lib/protocol/device';
import { useFailureToast } from '../failure/format-failure.ts';
import { useAnnounce } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { useFocusStays } from '../ui/use-focus-stays.ts';
import { ToolDifference } from './tool-difference.tsx';
import { useDevicesApi } from './use-devices-api.ts';

interface WaitingToolsProps {
  device: WireDevice;
  mayDecide: boolean;
  onChanged: (device: WireDevice) => void;
}

/** Tools that the device offers anew, or otherwise than they were allowed: each with what differs. */
export function WaitingTools({ device, mayDecide, onChanged }: WaitingToolsProps) {
  const t = useTranslations('devices.waiting');
  const api = useDevicesApi();
  const showFailure = useFailureToast();
  const [isSending, setSending] = useState(false);
  const announce = useAnnounce();
  const decide = async (decision: 'allow' | 'deny', { hash, name }: DeviceTool) => {
    if (isSending) return;
    setSending(true);
    const answer = await api.decideTools(device.device_id, { [decision]: [hash] });
    setSending(false);
    if (!answer.ok) return showFailure(t('notDecided'), answer);
    onChanged(answer.value);
    announce(t(decision === 'allow' ? 'allowed' : 'denied', { name }));
  };
  return (
    <section aria-label={t('label')} className="mt-2 rounded border border-wait bg-waitbg/40 p-2">
      <h3 className="font-semibold">{t('title', { count: device.waiting.length })}</h3>
      <ul className="mt-1 space-y-2">
        {device.waiting.map(({ tool, before }) => (
          <WaitingTool key={tool.hash} name={tool.name}>
            <ToolDifference tool={tool} before={before} />
            {mayDecide && (
              <div className="mt-1 flex flex-wrap gap-2">
                <Button
                  size="sm"
                  variant="primary"
                  aria-disabled={isSending}
                  aria-label={t('allowNamed', { name: tool.name })}
                  onClick={() => void decide('allow', tool)}
                >
                  {t('allow')}
                </Button>
                <Button
                  size="sm"
                  aria-disabled={isSending}
                  aria-label={t('denyNamed', { name: tool.name })}
                  onClick={() => void decide('deny', tool)}
                >
                  {t('deny')}
                </Button>
              </div>
            )}
          </WaitingTool>
        ))}
      </ul>
    </section>
  );
}

function WaitingTool({ name, children }: { name: string; children: ReactNode }) {
  const item = useFocusStays<HTMLLIElement>();
  return (
    <li ref={item} data-testid="waiting-tool" data-tool={name}>
      {children}
    </li>
  );
}
