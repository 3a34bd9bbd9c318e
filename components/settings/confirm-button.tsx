'use client';

import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';

export interface ConfirmButtonProps {
  /** Of the button that asks. */
  label: string;
  /** Which of several buttons with this label it is, for those who listen. */
  about?: string;
  question: string;
  /** What it would lead to. */
  children: ReactNode;
  confirm: string;
  sending: string;
  keep: string;
  /** Resolves to whether it was done; then what asked is gone. */
  onConfirm: () => Promise<boolean>;
}

/** What is for good is asked about first. The focus stays within the question, or goes back to the button. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, about, question, confirm, sending, onConfirm } = props;
  const [isAsking, setAsking] = useState(false);
  const [isSending, setSending] = useState(false);
  const first = useRef<HTMLButtonElement>(null);
  const keep = useRef<HTMLButtonElement>(null);
  const wasAsked = useRef(false);
  const textId = useId();
  useEffect(() => {
    if (isAsking) keep.current?.focus();
    else if (wasAsked.current) first.current?.focus();
    wasAsked.current = isAsking;
  }, [isAsking]);
  const act = async () => {
    if (isSending) return;
    setSending(true);
    const isDone = await onConfirm();
    setSending(false);
    if (!isDone) setAsking(false);
  };
  if (!isAsking) {
    return (
      <Button
        ref={first}
        size="sm"
        className="mt-2"
        aria-label={about === undefined ? undefined : `${label} ${about}`}
        onClick={() => setAsking(true)}
      >
        {label}
      </Button>
    );
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div role="group" aria-label={question} className="mt-2">
      <p id={textId}>
        {question} {props.children}
      </p>
      <div className="mt-1 flex flex-wrap gap-2">
        <Button size="sm" variant="danger" aria-disabled={isSending} onClick={() => void act()}>
          {isSending ? sending : confirm}
        </Button>
        <Button ref={keep} size="sm" aria-describedby={textId} onClick={() => setAsking(false)}>
          {props.keep}
        </Button>
      </div>
    </div>
  );
}
