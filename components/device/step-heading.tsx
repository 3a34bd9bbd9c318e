import { type ReactNode, useEffect, useRef } from 'react';

/** The heading of a step that took the place of another: a screen reader reads what takes the focus. */
export function StepHeading({
  className = 'font-semibold text-2xl',
  children,
}: {
  className?: string;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <h1 ref={heading} tabIndex={-1} className={`${className} outline-none`}>
      {children}
    </h1>
  );
}
