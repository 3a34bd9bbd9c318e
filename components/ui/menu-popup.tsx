'use client';

import { DropdownMenu } from 'radix-ui';
import { type FocusEvent, useRef, useState } from 'react';
import { MenuParts, type MenuPopupProps } from './menu-parts.ts';

const FIRST_ITEM = '[role="menuitem"]:not([data-disabled])';

/** The open menu; it lies under the button in whose place it is drawn. */
export function MenuPopup(props: MenuPopupProps) {
  const { label, align, openedBy, onClose, onReturn, children } = props;
  // Into the page's main part: what lies outside of every landmark is hard to find.
  const [container] = useState(() => document.getElementById('content'));
  const hasLeft = useRef(false);
  const isEntered = useRef(false);
  const onFocus = (event: FocusEvent<HTMLElement>) => {
    if (isEntered.current || event.target !== event.currentTarget) return;
    isEntered.current = true;
    // The key that opened it was pressed before these parts were there to see it.
    if (openedBy === 'keyboard') event.target.querySelector<HTMLElement>(FIRST_ITEM)?.focus();
  };
  return (
    <DropdownMenu.Root modal={false} open onOpenChange={(open) => !open && onClose()}>
      <DropdownMenu.Trigger asChild>
        <span aria-hidden className="pointer-events-none absolute inset-0" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal container={container}>
        <DropdownMenu.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          aria-label={label}
          aria-labelledby={undefined}
          onFocus={onFocus}
          onInteractOutside={() => {
            hasLeft.current = true;
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (!hasLeft.current) onReturn();
          }}
          className="popup z-50 max-h-[min(70dvh,26rem)] min-w-44 max-w-[min(24rem,94vw)] overflow-y-auto p-1"
        >
          <MenuParts value={DropdownMenu}>{children}</MenuParts>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
