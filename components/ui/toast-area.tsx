'use client';

import { X } from 'lucide-react';
import { useEffect } from 'react';
import { Toaster, toast } from 'sonner';
import { waitingToasts } from './toast.ts';

export interface ToastAreaProps {
  label: string;
  closeLabel: string;
}

/** An error has a next step. */
const ERROR_MS = 10_000;

/** Draws what waits, then what comes. A live region that is there before its first message. */
export function ToastArea({ label, closeLabel }: ToastAreaProps) {
  // After the effects of its child, which drops what it is given before them.
  useEffect(() => {
    draw();
    return waitingToasts.subscribe(draw);
  }, []);
  return (
    <Toaster
      position="bottom-right"
      containerAriaLabel={label}
      closeButton
      icons={{ close: <X aria-hidden className="size-4" /> }}
      toastOptions={{
        unstyled: true,
        closeButtonAriaLabel: closeLabel,
        classNames: {
          toast: 'popup flex w-full items-start gap-3 px-3 py-2.5 text-sm wrap-anywhere',
          title: 'font-semibold',
          description: 'text-muted',
          content: 'min-w-0 flex-1',
          closeButton: 'btn btn-ghost btn-icon btn-sm order-last',
          error: 'border-error',
        },
      }}
    />
  );
}

function draw(): void {
  const waiting = waitingToasts.get();
  if (waiting.length === 0) return;
  waitingToasts.set([]);
  for (const { title, isError, ...words } of waiting) {
    if (isError) toast.error(title, { ...words, duration: ERROR_MS });
    else toast(title, words);
  }
}
