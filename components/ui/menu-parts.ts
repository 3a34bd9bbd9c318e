'use client';

import type { DropdownMenu } from 'radix-ui';
import { createContext, type ReactNode } from 'react';

/** How a menu was opened, which decides where its focus begins. */
export type OpenedBy = 'pointer' | 'keyboard';

export interface MenuPopupProps {
  label: string;
  align: 'start' | 'end';
  openedBy: OpenedBy;
  onClose: () => void;
  /** Gives the focus back to the button. */
  onReturn: () => void;
  children: ReactNode;
}

/** The parts that a menu's rows are drawn with; they come with its popup. */
export const MenuParts = createContext<typeof DropdownMenu | null>(null);
