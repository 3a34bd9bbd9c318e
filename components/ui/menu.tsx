'use client';

import { DropdownMenu } from 'radix-ui';
import { type ReactNode, useState } from 'react';

export interface MenuProps {
  /** The button that opens it; must take a ref and props. */
  trigger: ReactNode;
  /** Name of the menu for those who cannot see it. */
  label: string;
  align?: 'start' | 'end';
  children: ReactNode;
}

/** A menu of actions under a button. */
export function Menu({ trigger, label, align = 'end', children }: MenuProps) {
  const [container, setContainer] = useState<HTMLElement | null>(null);
  return (
    <DropdownMenu.Root
      modal={false}
      // Into the page's main part: what lies outside of every landmark is hard to find.
      onOpenChange={(open) => open && setContainer(document.getElementById('content'))}
    >
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={container}>
        <DropdownMenu.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          aria-label={label}
          className="popup z-50 max-h-[min(70dvh,26rem)] min-w-44 max-w-[min(24rem,94vw)] overflow-y-auto p-1"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export interface MenuItemProps {
  onSelect: () => void;
  disabled?: boolean;
  danger?: boolean;
  children: ReactNode;
}

export const MenuItem = ({
  onSelect,
  disabled = false,
  danger = false,
  children,
}: MenuItemProps) => (
  <DropdownMenu.Item
    disabled={disabled}
    onSelect={onSelect}
    className={`menu-item ${danger ? 'text-error' : ''}`}
  >
    {children}
  </DropdownMenu.Item>
);

export const MenuSeparator = () => <DropdownMenu.Separator className="my-1 h-px bg-line" />;

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <DropdownMenu.Label className="px-2.5 py-1 text-xs font-semibold text-muted">
    {children}
  </DropdownMenu.Label>
);
