import { useStore } from 'zustand';
import { formatDuration } from '#lib/format/format-duration';
import { LANGUAGE_TAGS } from '#lib/i18n/locales';
import { callerName } from './caller-name.ts';
import { useDevicePage } from './device-context.tsx';
import type { DeviceStore, Use } from './device-store.ts';
import { fill } from './texts.ts';
import { toolName } from './tool-words.ts';

const TONES: Record<Use['outcome'], string> = {
  done: 'text-success',
  declined: 'text-muted',
  failed: 'text-error',
  cancelled: 'text-muted',
};

/** What was used of this device, newest first. It stays here, in this browser. */
export function LastUses({ store }: { store: DeviceStore }) {
  const { texts } = useDevicePage();
  const uses = useStore(store, (state) => state.uses);
  return (
    <section aria-labelledby="uses" className="flex flex-col gap-2">
      <h2 id="uses" className="font-semibold text-lg">
        {texts.uses.title}
      </h2>
      {uses.length === 0 ? (
        <p className="text-muted">{texts.uses.none}</p>
      ) : (
        <>
          <ol className="flex flex-col divide-y divide-line rounded-xl border border-line">
            {uses.map((use) => (
              <li key={`${use.callId}-${use.at}`} className="flex flex-col px-3 py-2">
                <UseLine use={use} />
              </li>
            ))}
          </ol>
          <button type="button" className="btn" onClick={store.getState().clearUses}>
            {texts.uses.clear}
          </button>
        </>
      )}
    </section>
  );
}

function UseLine({ use }: { use: Use }) {
  const { texts, locale } = useDevicePage();
  const at = new Date(use.at);
  const caller = callerName(use.requestedBy, texts);
  const options = { dateStyle: 'short', timeStyle: 'medium' } as const;
  return (
    <>
      <span className="flex justify-between gap-2">
        <span>{toolName(texts, use.tool)}</span>
        <span className={`font-semibold ${TONES[use.outcome]}`}>{texts.uses[use.outcome]}</span>
      </span>
      <span className="text-muted text-sm tabular-nums">
        <time dateTime={at.toISOString()}>{at.toLocaleString(LANGUAGE_TAGS[locale], options)}</time>
        {` · ${formatDuration(use.ms, locale)} · ${fill(texts.uses.by, { caller })}`}
      </span>
    </>
  );
}
