import type { ReactNode, Ref, UIEventHandler } from 'react';

export interface ScrollRegionProps {
  label: string;
  id?: string;
  className?: string;
  hidden?: boolean;
  ref?: Ref<HTMLDivElement>;
  onScroll?: UIEventHandler<HTMLDivElement>;
  children: ReactNode;
}

/**
 * A part of a card that scrolls by itself, by mouse, finger and keyboard: what
 * scrolls must take the focus, so that arrow keys reach it (WCAG 2.1.1). A
 * group and no landmark: a page of cards would have hundreds of them.
 */
export function ScrollRegion(props: ScrollRegionProps) {
  const { label, className = '', children, ...rest } = props;
  const group = { role: 'group', 'aria-label': label, tabIndex: 0 };
  return (
    <div className={`overflow-auto ${className}`} {...rest} {...group}>
      {children}
    </div>
  );
}
