'use client';

import dynamic from 'next/dynamic';
import { showControlCharacters } from '#lib/format/show-control-characters';

const Sonner = dynamic(() => import('sonner').then((module) => module.Toaster), { ssr: false });

/** Where short messages appear. Put once into the page; its code comes after the page. */
export const Toaster = ({ label }: { label: string }) => (
  <Sonner
    position="bottom-right"
    containerAriaLabel={label}
    toastOptions={{
      unstyled: true,
      classNames: {
        toast: 'popup flex w-full items-start gap-3 px-3 py-2.5 text-sm',
        title: 'font-semibold',
        description: 'text-muted',
        error: 'border-error',
      },
    }}
  />
);

export function showToast(title: string, description?: string): void {
  void import('sonner').then(({ toast }) => toast(title, shown(description)));
}

/** Stays longer: it says what to do next. */
export function showErrorToast(title: string, description?: string): void {
  void import('sonner').then(({ toast }) =>
    toast.error(title, { duration: 10_000, ...shown(description) }),
  );
}

/** Descriptions are words of the server, which may quote what others wrote. */
const shown = (description: string | undefined) =>
  description === undefined ? {} : { description: showControlCharacters(description) };
