import type { ReactNode } from 'react';

export interface ScrollRegionProps {
  label: string;
  className?: string;
  children: ReactNode;
}

/**
 * A part of a card that scrolls by itself, by mouse, finger and keyboard: what
 * scrolls must take the focus, so that arrow keys reach it (WCAG 2.1.1). A
 * group and no landmark: a page of cards would have hundreds of them.
 */
export function ScrollRegion({ label, className = '', children }: ScrollRegionProps) {
  const group = { role: 'group', 'aria-label': label, tabIndex: 0 };
  return (
    <div className={`overflow-auto ${className}`} {...group}>
      {children}
    </div>
  );
}
