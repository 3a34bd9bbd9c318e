'use client';

import { X } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { createObservable } from '#lib/util/observable';

interface Toast {
  readonly id: number;
  readonly title: string;
  readonly description?: string | undefined;
  readonly isError: boolean;
}

/** Of more, the oldest give way. */
const SHOWN_AT_ONCE = 3;
const SHOWN_MS = 4_000;
/** An error says what to do next. */
const ERROR_MS = 10_000;

const toasts = createObservable<readonly Toast[]>([]);
const NONE: readonly Toast[] = [];
let lastId = 0;

export const showToast = (title: string, description?: string): void =>
  add({ title, description, isError: false });

/** Stays longer: it says what to do next. */
export const showErrorToast = (title: string, description?: string): void =>
  add({ title, description, isError: true });

/** Descriptions may quote what others wrote. */
function add({ title, description, isError }: Omit<Toast, 'id'>): void {
  lastId += 1;
  const shown = description === undefined ? undefined : showControlCharacters(description);
  const toast = { id: lastId, title, description: shown, isError };
  toasts.set([...toasts.get(), toast].slice(-SHOWN_AT_ONCE));
}

const remove = (id: number): void => toasts.set(toasts.get().filter((one) => one.id !== id));

/**
 * Where short messages appear. Put once into the page. It is a live region that is there before
 * its first message, and its code comes with the page: most messages say that the network failed.
 */
export function Toaster({ label, closeLabel }: { label: string; closeLabel: string }) {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get, () => NONE);
  return (
    <section
      aria-label={label}
      aria-live="polite"
      aria-relevant="additions text"
      className="fixed right-4 bottom-4 z-50 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2"
    >
      {shown.map((toast) => (
        <ToastView key={toast.id} toast={toast} closeLabel={closeLabel} />
      ))}
    </section>
  );
}

/** It stays while a person is on it. */
function ToastView({ toast, closeLabel }: { toast: Toast; closeLabel: string }) {
  const [isHeld, setHeld] = useState(false);
  const { id, title, description, isError } = toast;
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => remove(id), isError ? ERROR_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, isError, isHeld]);
  const holding = {
    onPointerEnter: () => setHeld(true),
    onPointerLeave: () => setHeld(false),
    onFocus: () => setHeld(true),
    onBlur: () => setHeld(false),
  };
  return (
    <div
      data-testid="toast"
      {...holding}
      className={`popup fade-in flex items-start gap-3 px-3 py-2.5 ${isError ? 'border-error' : ''}`}
    >
      <div className="min-w-0 flex-1 wrap-anywhere">
        <p className="font-semibold">{title}</p>
        {description !== undefined && <p className="text-muted">{description}</p>}
      </div>
      <button
        type="button"
        aria-label={closeLabel}
        className="btn btn-ghost btn-icon btn-sm"
        onClick={() => remove(id)}
      >
        <X aria-hidden className="size-4" />
      </button>
    </div>
  );
}
