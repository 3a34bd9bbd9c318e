'use client';

import { MessageCircleQuestionMark, ShieldQuestionMark } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type FormEvent, useId, useState } from 'react';
import type { PersonAnswer, QuestionPicture } from '#lib/browser-tools/browser-env';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { DevicePrompt } from '#lib/stores/device-prompts-store';
import { useBlobUrl } from '../result/use-blob-url.ts';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
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

/** What a touch is for: in the person's language for built-in tools, else in the tool's own words. */
function useDeviceWords() {
  const asks = useTranslations('browserTools.asks');
  const does = useTranslations('browserTools.does');
  const t = useTranslations('shell.tab');
  return {
    question({ tool, message, variant }: DevicePrompt): string {
      const key = toKey(tool);
      if (key === 'browser_screenshot' && variant) return asks(`${key}_${variant}`);
      return isAsked(key) ? asks(key) : message;
    },
    allow({ tool }: DevicePrompt): string {
      const key = toKey(tool);
      return isAsked(key) ? does(key) : t('allow');
    },
  };
}

const ASKED = [
  ...(['browser_screenshot', 'page_open', 'notification_show', 'vibrate', 'sensors_read'] as const),
  ...(['speech_say', 'speech_listen'] as const),
  ...(['clipboard_read', 'clipboard_write', 'file_pick', 'contacts_pick', 'share_send'] as const),
];

const toKey = (tool: string): string => tool.replaceAll('.', '_');

const isAsked = (key: string): key is (typeof ASKED)[number] => ASKED.some((one) => one === key);

const MAX_CHARS = 4_000;

interface DeviceQuestionProps {
  prompt: Extract<DevicePrompt, { kind: 'question' }>;
  more: number;
}

/** What `display.show` shows: a text, a picture, and the ways to answer. */
function DeviceQuestion({ prompt, more }: DeviceQuestionProps) {
  const t = useTranslations('browserTools.question');
  const { prompts } = useWorkbench();
  const [text, setText] = useState('');
  const id = useId();
  const { title, image, buttons, input } = prompt;
  const answer = (given: PersonAnswer) => prompts.getState().answer(prompt.id, given);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (buttons.length === 0 && text.trim() !== '') answer({ button: null, text });
  };
  return (
    <form className="flex w-full min-w-0 flex-col gap-2" onSubmit={onSubmit}>
      <div className="flex items-start gap-3">
        <MessageCircleQuestionMark aria-hidden className="mt-0.5 size-5 shrink-0 text-wait" />
        <div className="min-w-0 flex-1">
          <p>{t('from')}</p>
          <PromptSource tool={prompt.tool} more={more} />
        </div>
      </div>
      {/* Words of others lie in a box of their own, so that they pass for none of ours. */}
      <div id={id} lang="" className="rounded-md bg-surface2 px-3 py-2 wrap-anywhere">
        {title && (
          <p className="font-semibold">
            <MarkedText text={title} />
          </p>
        )}
        {prompt.text && (
          <p className="whitespace-pre-wrap">
            <MarkedText text={prompt.text} keepLayout />
          </p>
        )}
        {image && <Picture image={image} />}
      </div>
      {input && (
        <textarea
          aria-label={t('answer')}
          aria-describedby={id}
          rows={2}
          maxLength={MAX_CHARS}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="field w-full"
        />
      )}
      <div className="flex flex-wrap gap-2">
        {buttons.map((label, button) => (
          <Button
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is which button it is.
            key={button}
            lang=""
            aria-describedby={id}
            className="max-w-full whitespace-normal wrap-anywhere"
            onClick={() => answer({ button, text })}
          >
            <MarkedText text={label} />
          </Button>
        ))}
        {input && buttons.length === 0 && (
          <Button type="submit" variant="primary" disabled={text.trim() === ''}>
            {t('send')}
          </Button>
        )}
        <Button variant="ghost" onClick={() => answer('closed')}>
          {t('close')}
        </Button>
      </div>
    </form>
  );
}

const Picture = ({ image }: { image: QuestionPicture }) =>
  'dataUrl' in image ? <Shown src={image.dataUrl} /> : <Stored blobId={image.blobId} />;

function Stored({ blobId }: { blobId: string }) {
  const t = useTranslations('browserTools.question');
  const { api } = useWorkbench();
  const blob = useBlobUrl(api.blobUrl(blobId));
  if (blob.state === 'failed') return <p>{t('pictureFailed')}</p>;
  return blob.state === 'ready' ? <Shown src={blob.url} /> : null;
}

function Shown({ src }: { src: string }) {
  const t = useTranslations('browserTools.question');
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p>{t('pictureFailed')}</p>;
  return (
    <img
      src={src}
      alt={t('picture')}
      onError={() => setBroken(true)}
      className="mt-1 h-auto max-h-60 w-auto max-w-full object-contain"
    />
  );
}

/** Which tool asks, and how many questions wait behind it. */
function PromptSource({ tool, more }: { tool: string; more: number }) {
  const t = useTranslations('shell.tab');
  return (
    <p className="text-muted">
      <span className="mono">
        <MarkedText text={tool} />
      </span>
      {more > 0 && ` · ${t('more', { count: more })}`}
    </p>
  );
}
