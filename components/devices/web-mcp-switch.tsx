'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { readModelContext } from '#lib/client/web-mcp/model-context';
import { useWebMcpSwitch } from '../providers/use-web-mcp.ts';

/** Whether this tab's tools are offered to the agent of its browser; nothing where the browser has none. */
export function WebMcpSwitch() {
  const t = useTranslations('devices.webMcp');
  const { isOn, set } = useWebMcpSwitch();
  const [isThere, setThere] = useState(false);
  useEffect(() => setThere(readModelContext(document) !== undefined), []);
  if (!isThere) return null;
  return (
    <label className="mt-6 flex min-h-7 items-start gap-2 pointer-coarse:min-h-11">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => set(event.target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <span>
        {t('label')}
        <span className="block text-[13px] text-muted">{t('text')}</span>
      </span>
    </label>
  );
}
