'use client';

import { useTranslations } from 'next-intl';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { DevicePrompt } from '#lib/stores/device-prompts-store';
import { DeviceQuestion } from './device-question.tsx';
import { DeviceTouch } from './device-touch.tsx';
import { useDeviceWords } from './use-device-words.ts';
import { useDevicePrompts } from './workbench-context.tsx';

/**
 * What a tool asks of the person at this device. It takes no focus: a person
 * who types must not allow anything by the next key. It is announced at once.
 */
export function DevicePromptBanner() {
  const t = useTranslations('shell.tab');
  const waiting = useDevicePrompts();
  const { question } = useDeviceWords();
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
          className="fade-in flex max-h-[70dvh] shrink-0 flex-wrap items-center gap-x-4 gap-y-2 overflow-y-auto border-b-2 border-attn bg-waitbg px-4 py-2.5"
        >
          <Prompt prompt={prompt} more={waiting.length - 1} />
        </section>
      )}
    </>
  );
}

const Prompt = ({ prompt, more }: { prompt: DevicePrompt; more: number }) =>
  prompt.kind === 'touch' ? (
    <DeviceTouch prompt={prompt} more={more} />
  ) : (
    <DeviceQuestion prompt={prompt} more={more} />
  );
