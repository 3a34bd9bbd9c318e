'use client';

import { type RefObject, useEffect, useState } from 'react';

/** Id of the call whose card has the focus, or has it inside. */
export function useFocusedCard(within: RefObject<HTMLElement | null>): string | null {
  const [callId, setCallId] = useState<string | null>(null);
  useEffect(() => {
    const element = within.current;
    if (!element) return;
    const onIn = (event: FocusEvent) => setCallId(callIdAt(event.target));
    const onOut = () => setCallId(null);
    element.addEventListener('focusin', onIn);
    element.addEventListener('focusout', onOut);
    return () => {
      element.removeEventListener('focusin', onIn);
      element.removeEventListener('focusout', onOut);
    };
  }, [within]);
  return callId;
}

const callIdAt = (target: EventTarget | null): string | null =>
  target instanceof Element
    ? (target.closest<HTMLElement>('[data-call-id]')?.dataset.callId ?? null)
    : null;
