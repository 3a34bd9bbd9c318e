'use client';

import { ShieldQuestionMark } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { DevicePrompt } from '#lib/stores/device-prompts-store';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { DeviceQuestion } from './device-question.tsx';
import { PromptSource } from './prompt-source.tsx';
import { useDeviceWords } from './use-device-words.ts';
import { useDevicePrompts, useWorkbench } from './workbench-context.tsx';

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

/** A tool that needs a touch: what it would do, and the two ways to answer. */
function DeviceTouch({ prompt, more }: { prompt: DevicePrompt; more: number }) {
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
