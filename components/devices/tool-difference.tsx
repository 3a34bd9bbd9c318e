'use client';

import { useTranslations } from 'next-intl';
import { changedFields } from '#lib/format/changed-fields';
import type { DeviceTool } from '#lib/protocol/device';
import { MarkedText } from '../ui/marked-text.tsx';

/** A new tool as it is; of a changed one each field that differs, before and after. */
export function ToolDifference({ tool, before }: { tool: DeviceTool; before: DeviceTool | null }) {
  const t = useTranslations('devices.waiting');
  return (
    <>
      <p className="mono font-semibold wrap-anywhere">
        <MarkedText text={tool.name} />
        <span className="font-normal font-sans text-muted"> {t(before ? 'changed' : 'new')}</span>
      </p>
      <dl className="text-[13px]">
        {changedFields(tool, before).map(({ field, was, now }) => (
          <div key={field} className="mt-1">
            <dt className="text-muted">{t(`field.${field}`)}</dt>
            {was !== null && (
              <dd className="text-error wrap-anywhere">
                <del>
                  <MarkedText text={was} keepLayout />
                </del>
              </dd>
            )}
            {now !== null && (
              <dd className="text-success wrap-anywhere">
                <ins className="no-underline">
                  <MarkedText text={now} keepLayout />
                </ins>
              </dd>
            )}
          </div>
        ))}
      </dl>
    </>
  );
}
