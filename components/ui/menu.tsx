'use client';

import {
  type ComponentProps,
  cloneElement,
  type KeyboardEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  use,
  useRef,
  useState,
} from 'react';
import { late } from './late.tsx';
import { MenuParts, type MenuPopupProps, type OpenedBy } from './menu-parts.ts';

export interface MenuProps {
  /** The button that opens it; must take the props of one. */
  trigger: ReactElement<ComponentProps<'button'>>;
  /** Name of the menu for those who cannot see it. */
  label: string;
  align?: 'start' | 'end';
  children: ReactNode;
}

/** Most of a page's buttons are never pressed: what draws a menu is fetched with the first one. */
const MenuPopup = late<MenuPopupProps>(
  () => import('./menu-popup.tsx').then((module) => module.MenuPopup),
  {
    frame: (words) => (
      <div className="popup absolute right-0 top-full z-50 mt-1.5 w-max max-w-72 p-3">{words}</div>
    ),
  },
);

const OPENING_KEYS = ['Enter', ' ', 'ArrowDown'];

/** A menu of actions under a button. */
export function Menu({ trigger, label, align = 'end', children }: MenuProps) {
  const [openedBy, setOpenedBy] = useState<OpenedBy | null>(null);
  const place = useRef<HTMLSpanElement>(null);
  const toggle = (by: OpenedBy) => setOpenedBy(openedBy === null ? by : null);
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0 || event.ctrlKey) return;
    // Else the button would take the focus from the menu that opens.
    if (openedBy === null) event.preventDefault();
    toggle('pointer');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setOpenedBy(null);
    if (!OPENING_KEYS.includes(event.key)) return;
    event.preventDefault();
    toggle('keyboard');
  };
  return (
    <span ref={place} className="relative inline-flex">
      {cloneElement(trigger, {
        'aria-haspopup': 'menu',
        'aria-expanded': openedBy !== null,
        onPointerDown,
        onKeyDown,
      })}
      {openedBy !== null && (
        <MenuPopup
          label={label}
          align={align}
          openedBy={openedBy}
          onClose={() => setOpenedBy(null)}
          onReturn={() => place.current?.querySelector('button')?.focus({ preventScroll: true })}
        >
          {children}
        </MenuPopup>
      )}
    </span>
  );
}

export interface MenuItemProps {
  onSelect: () => void;
  disabled?: boolean;
  danger?: boolean;
  children: ReactNode;
}

export function MenuItem({ onSelect, disabled = false, danger = false, children }: MenuItemProps) {
  const parts = use(MenuParts);
  return (
    parts && (
      <parts.Item
        disabled={disabled}
        onSelect={onSelect}
        className={`menu-item ${danger ? 'text-error' : ''}`}
      >
        {children}
      </parts.Item>
    )
  );
}

export function MenuSeparator() {
  const parts = use(MenuParts);
  return parts && <parts.Separator className="my-1 h-px bg-line" />;
}

export function MenuLabel({ children }: { children: ReactNode }) {
  const parts = use(MenuParts);
  return (
    parts && (
      <parts.Label className="px-2.5 py-1 text-xs font-semibold text-muted">{children}</parts.Label>
    )
  );
}
