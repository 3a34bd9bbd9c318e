'use client';

import { useTranslations } from 'next-intl';
import type { DeviceTool } from '#lib/protocol/device';
import { MarkedText } from '../ui/marked-text.tsx';

interface ToolChoicesProps {
  tools: readonly DeviceTool[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
  isFixed: boolean;
}

/** The tools that a device wants to offer, each with what it says that the tool does. */
export function ToolChoices({ tools, chosen, onChange, isFixed }: ToolChoicesProps) {
  const t = useTranslations('devices.request');
  if (tools.length === 0) return <p className="mt-2 text-muted">{t('noTools')}</p>;
  const toggle = (name: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, name] : chosen.filter((one) => one !== name));
  return (
    <fieldset disabled={isFixed} className="mt-2 min-w-0 border-0">
      <legend className="font-medium">{t('tools', { count: tools.length })}</legend>
      <ul className="mt-1 max-h-64 overflow-y-auto">
        {tools.map(({ name, description, display_name, annotations }) => (
          <li key={name}>
            <label className="flex min-h-7 items-start gap-2 py-1 pointer-coarse:min-h-11">
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={(event) => toggle(name, event.target.checked)}
                className="mt-0.5 size-4 shrink-0 accent-accent"
              />
              <span className="min-w-0 wrap-anywhere">
                <span className="mono font-semibold">
                  <MarkedText text={name} />
                </span>
                {display_name !== undefined && (
                  <>
                    {' '}
                    <MarkedText text={display_name} />
                  </>
                )}
                <span className="block text-[13px] text-muted">
                  <MarkedText text={description} keepLayout />
                </span>
                {annotations?.readOnlyHint === true && (
                  <span className="block text-[13px] text-wait">{t('onlyReads')}</span>
                )}
              </span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
