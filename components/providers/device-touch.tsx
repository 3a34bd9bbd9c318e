import { ShieldQuestionMark } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { DevicePrompt } from '#lib/stores/device-prompts-store';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { PromptSource } from './prompt-source.tsx';
import { useDeviceWords } from './use-device-words.ts';
import { useWorkbench } from './workbench-context.tsx';

/** A tool that needs a touch: what it would do, and the two ways to answer. */
export function DeviceTouch({ prompt, more }: { prompt: DevicePrompt; more: number }) {
  const t = useTranslations('shell.tab');
  const { prompts } = useWorkbench();
  const words = useDeviceWords();
  const { decide } = prompts.getState();
  return (
    <>
      <ShieldQuestionMark aria-hidden className="size-5 shrink-0 text-wait" />
      <div className="min-w-0 flex-1 basis-64">
        <p className="font-semibold">
          <MarkedText text={words.question(prompt)} />
        </p>
        {prompt.detail && (
          // Words of others lie in a box of their own, so that they pass for none of ours.
          <p
            lang=""
            className="my-1 max-h-32 overflow-y-auto rounded-md bg-surface2 px-2 py-1 whitespace-pre-wrap wrap-anywhere"
          >
            <MarkedText text={prompt.detail} keepLayout />
          </p>
        )}
        <PromptSource tool={prompt.tool} more={more} />
      </div>
      <div className="flex gap-2">
        <Button onClick={() => decide(prompt.id, 'denied')}>{t('notNow')}</Button>
        <Button variant="primary" onClick={() => decide(prompt.id, 'allowed')}>
          {words.allow(prompt)}
        </Button>
      </div>
    </>
  );
}
