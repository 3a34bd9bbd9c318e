'use client';

import { X } from 'lucide-react';
import { Dialog as Primitive } from 'radix-ui';
import { type ReactNode, useRef } from 'react';

export interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: string;
  closeLabel: string;
  /** Tailwind width class. */
  width?: string;
  children: ReactNode;
}

/** A modal window with a title. Esc and the cross close it; focus goes back to where it was. */
export function Dialog(props: DialogProps) {
  const { open, onOpenChange, title, description, closeLabel, width = 'max-w-lg' } = props;
  // A field that takes the focus by itself has it before the opening is reported.
  const before = useRef(typeof document === 'undefined' ? null : document.activeElement);
  const goBack = (event: Event) => {
    // By itself it goes back to a trigger, and these dialogs have none.
    if (!(before.current instanceof HTMLElement) || !before.current.isConnected) return;
    event.preventDefault();
    before.current.focus({ preventScroll: true });
  };
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Primitive.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          onOpenAutoFocus={({ currentTarget }) => {
            const { activeElement } = document;
            const isInside = currentTarget instanceof Node && currentTarget.contains(activeElement);
            if (!isInside) before.current = activeElement;
          }}
          onCloseAutoFocus={goBack}
          className={`popup fixed left-1/2 top-1/2 z-50 max-h-[88dvh] w-[94vw] -translate-x-1/2 -translate-y-1/2 overflow-y-auto p-4 ${width}`}
        >
          <div className="mb-3 flex items-start gap-3">
            <div className="min-w-0 flex-1">
              <Primitive.Title className="text-base font-bold">{title}</Primitive.Title>
              {description !== undefined && (
                <Primitive.Description className="text-muted">{description}</Primitive.Description>
              )}
            </div>
            <Primitive.Close className="btn btn-ghost btn-icon btn-sm" aria-label={closeLabel}>
              <X aria-hidden className="size-4" />
            </Primitive.Close>
          </div>
          {props.children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
