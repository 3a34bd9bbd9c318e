'use client';

import { Tooltip as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';

/** Put once around the page; tooltips inside share one delay. */
export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Primitive.Provider delayDuration={400}>{children}</Primitive.Provider>
);

/** Words beside a control on hover and on focus. The control keeps its own name. */
export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Primitive.Root>
      <Primitive.Trigger asChild>{children}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          sideOffset={6}
          collisionPadding={8}
          className="popup z-50 max-w-72 px-2.5 py-1 text-xs"
        >
          {text}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
