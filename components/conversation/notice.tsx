'use client';

import { CircleSlash, OctagonX } from 'lucide-react';
import type { ReactNode } from 'react';
import { MarkedText } from '../ui/marked-text.tsx';

export interface NoticeProps {
  code: string;
  words: string;
  /** The reader learns here what can be done, where the words do not say it. */
  advice?: string;
  /** It says what happened without a failure. */
  isQuiet?: boolean;
  children?: ReactNode;
}

/** Why a turn ended as it did, and what one can do about it. */
export function Notice({ code, isQuiet: quiet = false, words, advice, children }: NoticeProps) {
  const Icon = quiet ? CircleSlash : OctagonX;
  return (
    <div
      data-testid="notice"
      data-code={code}
      className={`flex w-full gap-2 rounded-[10px] border px-3 py-2 ${quiet ? 'border-line text-muted' : 'border-error bg-errorbg'}`}
    >
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${quiet ? '' : 'text-error'}`} />
      <div className="min-w-0 flex-1 space-y-1.5 [overflow-wrap:anywhere]">
        <p>
          <MarkedText text={words} />
        </p>
        {advice && <p className="font-medium">{advice}</p>}
        {children}
        {!quiet && <p className="mono text-error">{code}</p>}
      </div>
    </div>
  );
}
