import { useTranslations } from 'next-intl';
import { type RefObject, useEffect, useId, useRef } from 'react';
import { Button } from '../../ui/button.tsx';

export interface ConfirmFullProps {
  /** What it would be for: all runs, or one. */
  of: 'all' | 'run';
  isSending: boolean;
  /** What has the focus afterwards. */
  returnTo: RefObject<HTMLElement | null>;
  onConfirm: () => void;
  onBack: () => void;
}

/** Before agents do without a person what a rule would ask about: what that means, and a way back, which has the focus. */
export function ConfirmFull({ of, isSending, returnTo, onConfirm, onBack }: ConfirmFullProps) {
  const t = useTranslations('settings.policy.autonomy.full');
  const common = useTranslations('common');
  const textId = useId();
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    back.current?.focus();
    return () => {
      if (document.activeElement === document.body) returnTo.current?.focus();
    };
  }, [returnTo]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div
      role="group"
      aria-labelledby={textId}
      data-testid="confirm-full"
      className="mt-2 w-full rounded-md border border-error p-2"
    >
      <p id={textId}>
        {t(`question.${of}`)} {t('means')}
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button variant="danger" aria-disabled={isSending} onClick={onConfirm}>
          {t('confirm')}
        </Button>
        <Button ref={back} aria-describedby={textId} onClick={onBack}>
          {common('back')}
        </Button>
      </div>
    </div>
  );
}
