'use client';

import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';

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

/** What people opened or closed, by key. Outlives a card that scrolled out of the list. */
const memory = new Map<string, boolean>();
/** Of so many parts of cards; the ones used least recently are as they were at first. */
const REMEMBERED = 1_000;

function remember(key: string, open: boolean): void {
  memory.delete(key); // Set anew, so that it is the youngest.
  memory.set(key, open);
  for (const oldest of memory.keys()) {
    if (memory.size <= REMEMBERED) break;
    memory.delete(oldest);
  }
}

/** Open or closed, remembered under `key`. The default counts until a person decides. */
export function useDisclosure(key: string, openByDefault: boolean) {
  const [chosen, setChosen] = useState(() => memory.get(key));
  const isOpen = chosen ?? openByDefault;
  const set = (open: boolean) => {
    remember(key, open);
    setChosen(open);
  };
  return { isOpen, set, toggle: () => set(!isOpen) };
}
