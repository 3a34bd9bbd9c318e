'use client';

import { ShieldQuestionMark } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { DevicePrompt } from '#lib/stores/device-prompts-store';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { useDevicePrompts, useWorkbench } from './workbench-context.tsx';

/**
 * What a tool asks of the person at this device. It takes no focus: a person
 * who types must not allow anything by the next key. It is announced at once.
 */
export function DevicePromptBanner() {
  const t = useTranslations('shell.tab');
  const { prompts } = useWorkbench();
  const waiting = useDevicePrompts();
  const question = useQuestion();
  const [prompt] = waiting;
  return (
    <>
      <p role="alert" className="sr-only">
        {prompt ? t('announce', { question: showControlCharacters(question(prompt)) }) : ''}
      </p>
      {prompt && (
        <section
          key={prompt.id}
          aria-label={t('asks', { tool: showControlCharacters(prompt.tool) })}
          data-testid="device-prompt"
          data-call-id={prompt.callId}
          className="fade-in flex shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b-2 border-attn bg-waitbg px-4 py-2.5"
        >
          <ShieldQuestionMark aria-hidden className="size-5 shrink-0 text-wait" />
          <div className="min-w-0 flex-1 basis-64">
            <p className="font-semibold">
              <MarkedText text={question(prompt)} />
            </p>
            <p className="text-muted">
              <span className="mono">
                <MarkedText text={prompt.tool} />
              </span>
              {waiting.length > 1 && ` · ${t('more', { count: waiting.length - 1 })}`}
            </p>
          </div>
          <div className="flex gap-2">
            <Button onClick={() => prompts.getState().decide(prompt.id, 'denied')}>
              {t('notNow')}
            </Button>
            <Button
              variant="primary"
              onClick={() => prompts.getState().decide(prompt.id, 'allowed')}
            >
              {t('allow')}
            </Button>
          </div>
        </section>
      )}
    </>
  );
}

/** In the person's language for built-in tools, else in the tool's own words. */
function useQuestion(): (prompt: DevicePrompt) => string {
  const t = useTranslations('shell.tab');
  return ({ tool, message }) => (tool === 'browser.screenshot' ? t('screenshot') : message);
}
