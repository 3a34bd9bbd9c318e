'use client';

import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useDisclosure } from './use-disclosure.ts';

export interface DisclosureProps {
  label: string;
  /** Shown beside the label while closed. */
  preview?: string;
  memoryKey: string;
  openByDefault?: boolean;
  className?: string;
  /** Not drawn, nor worked out, before it is opened. */
  children: () => ReactNode;
}

/** A part of a card that opens on demand. */
export function Disclosure(props: DisclosureProps) {
  const { isOpen, toggle } = useDisclosure(props.memoryKey, props.openByDefault ?? false);
  const id = useId();
  return (
    <div className={props.className}>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={toggle}
        data-disclosure={props.memoryKey.split(':').at(-1)}
        className="-mx-1 flex min-h-6 w-[calc(100%+0.5rem)] items-center gap-1 rounded px-1 text-left text-xs text-muted hover:text-fg pointer-coarse:min-h-11"
      >
        <ChevronRight
          aria-hidden
          className={`size-3.5 shrink-0 transition-transform ${isOpen ? 'rotate-90' : ''}`}
        />
        <span className="shrink-0 font-semibold">{props.label}</span>
        {!isOpen && props.preview !== undefined && (
          <span className="mono min-w-0 truncate">{props.preview}</span>
        )}
      </button>
      {isOpen && (
        <div id={id} className="mt-1">
          {props.children()}
        </div>
      )}
    </div>
  );
}
