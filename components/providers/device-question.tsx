import { MessageCircleQuestionMark } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type FormEvent, useId, useState } from 'react';
import type { PersonAnswer, QuestionPicture } from '#lib/browser-tools/device-prompts';
import type { DevicePrompt } from '#lib/stores/device-prompts-store';
import { useBlobUrl } from '../result/use-blob-url.ts';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { PromptSource } from './prompt-source.tsx';
import { useWorkbench } from './workbench-context.tsx';

const MAX_CHARS = 4_000;

interface DeviceQuestionProps {
  prompt: Extract<DevicePrompt, { kind: 'question' }>;
  more: number;
}

/** What `display.show` shows: a text, a picture, and the ways to answer. */
export function DeviceQuestion({ prompt, more }: DeviceQuestionProps) {
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
