'use client';

import { useEffect } from 'react';
import { isTyping } from '../shell/is-typing.ts';
import { isAfterTyping, watchTakenFields } from '../shell/taken-field.ts';
import { singleKeysOn } from '../shell/use-single-keys.ts';
import { isAskedAgain } from './asked-cancel.ts';
import type { CardActions } from './card-actions.ts';

export interface CardKeysDeps {
  /** Moves the focus by so many cards from the focused one, or to the first. */
  move: (by: number) => void;
  actions: CardActions;
}

const cardOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('[data-testid="tool-card"]') : null;

const press = (card: HTMLElement, selector: string): void =>
  card.querySelector<HTMLElement>(selector)?.click();

/** j and k go from card to card; the rest acts on the focused card alone. Off while one types. */
export function useCardKeys({ move, actions }: CardKeysDeps): void {
  useEffect(watchTakenFields, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.defaultPrevented || isTyping(event.target) || !singleKeysOn()) return;
      if (isAfterTyping()) return;
      // A menu or dialog has its own keys.
      if (document.querySelector('[role="menu"], [role="dialog"]')) return;
      const card = cardOf(event.target);
      if (event.key === 'j' || event.key === 'k') move(event.key === 'j' ? 1 : -1);
      else if (!card || !actOn(card, event, actions)) return;
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [move, actions]);
}

/** Whether the key meant something. */
function actOn(card: HTMLElement, { key, repeat }: KeyboardEvent, actions: CardActions): boolean {
  const callId = card.dataset.callId ?? '';
  switch (key) {
    case 'o':
      press(card, '[data-disclosure="result"], [data-disclosure="arguments"]');
      return true;
    case 'c':
      actions.copy(callId, 'id');
      return true;
    case 'x':
      // A key that is held down is one press.
      if (!repeat) cancelOn(card, callId);
      return true;
    case 'r':
      // The button shows whether it may run twice; a second key press on it decides.
      card.querySelector<HTMLElement>('[data-action="retry"], [data-card-menu]')?.focus();
      return true;
    case 'a':
      card.querySelector<HTMLElement>('[data-approval="yes"]')?.focus();
      return true;
    case 'd':
      card.querySelector<HTMLElement>('[data-approval="no"]')?.focus();
      return true;
    default:
      return false;
  }
}

/** CD37: by the second press. The button shows that the first one was taken. */
function cancelOn(card: HTMLElement, callId: string): void {
  const button = card.querySelector<HTMLElement>('[data-action="cancel"]:not(:disabled)');
  if (button && isAskedAgain(callId)) button.click();
}
