import type { ReactNode } from 'react';

export const Kbd = ({ children }: { children: ReactNode }) => (
  <kbd className="mono rounded border border-linestrong bg-surface px-1.5 py-px text-[11px] text-muted">
    {children}
  </kbd>
);
