'use client';

import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleQuestionMark,
  Clock,
  FileWarning,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  MessageCircleQuestionMark,
  OctagonX,
  PackageX,
  Repeat2,
  Send,
  ShieldAlert,
  ShieldOff,
  TimerOff,
  Unplug,
  UserRound,
} from 'lucide-react';
import { useTranslations } from 'next-intl';
import { CHIP_CLASSES } from './card-tone.ts';
import type { CardViewKind, Tone } from './card-view.ts';

const ICONS: Record<CardViewKind, LucideIcon> = {
  streaming: CircleDashed,
  held: Hourglass,
  approval: ShieldAlert,
  question: MessageCircleQuestionMark,
  queued: Clock,
  offered: Send,
  running: LoaderCircle,
  device: UserRound,
  away: Unplug,
  cancelling: LoaderCircle,
  done: CircleCheck,
  failed: OctagonX,
  timeout: TimerOff,
  denied: ShieldOff,
  expired: TimerOff,
  repeated: Repeat2,
  cancelled: Ban,
  disconnected: Unplug,
  unknown: CircleQuestionMark,
  invalid: FileWarning,
  noProvider: Unplug,
  badResult: PackageX,
};

export interface StatusChipProps {
  kind: CardViewKind;
  tone: Tone;
  /** The connection is lost: nothing turns as if it were live. */
  isStale?: boolean;
}

/** A call's state as icon and word: never colour alone. */
export function StatusChip({ kind, tone, isStale = false }: StatusChipProps) {
  const t = useTranslations('card');
  const Icon = ICONS[kind];
  const spins = !isStale && (kind === 'running' || kind === 'cancelling');
  return (
    <span
      className={`chip transition-colors duration-150 ${CHIP_CLASSES[tone]}`}
      data-testid="status-chip"
    >
      <Icon aria-hidden className={`size-3.5 shrink-0 ${spins ? 'spin' : ''}`} strokeWidth={2.25} />
      {t(`chip.${kind}`)}
    </span>
  );
}
