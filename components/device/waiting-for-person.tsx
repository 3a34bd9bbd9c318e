import { formatDuration } from '#lib/format/format-duration';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { serverNow } from '../ui/server-clock.ts';
import { useDevicePage } from './device-context.tsx';
import type { AskingDevice } from './device-memory.ts';
import { StepHeading } from './step-heading.tsx';
import { fill } from './texts.ts';
import { useNow } from './use-now.ts';

/** A person at the workbench decides; this page asks until it has the outcome. */
export function WaitingForPerson({ kept, isUnsure }: { kept: AskingDevice; isUnsure: boolean }) {
  const { texts, locale } = useDevicePage();
  const left = kept.expires_at * 1_000 - useNow(serverNow);
  const time = formatDuration(left, locale, { whole: true, fromSeconds: true });
  const workbench = showControlCharacters(kept.workbench.name);
  return (
    <>
      <StepHeading>{fill(texts.pair.waiting, { workbench })}</StepHeading>
      <div aria-hidden className="h-1 overflow-hidden rounded bg-surface2">
        <div className="indet h-full bg-accent" />
      </div>
      <p>{texts.pair.waitingHint}</p>
      {/* A clock that is read out each second would drown all else. */}
      <p className="text-muted tabular-nums">
        {left > 0 ? fill(texts.pair.left, { time }) : texts.pair.expiresSoon}
      </p>
      <p role="status" className="text-wait empty:hidden">
        {isUnsure ? texts.pair.unsure : ''}
      </p>
    </>
  );
}
