import { useState } from 'react';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { useDevicePage } from './device-context.tsx';
import type { Ask, DeviceStore, Shown } from './device-store.ts';
import { keyed } from './keyed.ts';
import { useTapGuard } from './use-tap-guard.ts';

const MOST_ANSWER_CHARS = 2_000;

/** A question of the caller's own. The person's answer is the result of the call. */
export function ShownQuestion({
  ask,
  shown,
  store,
}: {
  ask: Ask;
  shown: Shown;
  store: DeviceStore;
}) {
  const { texts } = useDevicePage();
  const [written, setWritten] = useState('');
  const { decide } = store.getState();
  const isReady = useTapGuard();
  const answer = (button?: number) =>
    isReady &&
    decide(ask.id, {
      isAllowed: true,
      reason: written,
      ...(button === undefined ? {} : { button }),
    });
  return (
    <>
      <div className="flex min-h-0 flex-col gap-2 overflow-y-auto">
        <h2 className="font-semibold text-xl">
          {showControlCharacters(shown.title ?? texts.ask.shown)}
        </h2>
        {shown.text !== undefined && (
          <p className="whitespace-pre-wrap">
            {showControlCharacters(shown.text, { keepLayout: true })}
          </p>
        )}
        {shown.picture !== undefined && (
          <img
            src={shown.picture}
            alt={texts.ask.picture}
            className="max-h-[40dvh] object-contain"
          />
        )}
        {shown.input && (
          <label className="flex flex-col gap-1">
            {texts.ask.write}
            <textarea
              className="field"
              value={written}
              onChange={({ target }) => setWritten(target.value)}
              maxLength={MOST_ANSWER_CHARS}
            />
          </label>
        )}
      </div>
      <div className="flex flex-col gap-2">
        {keyed(shown.buttons).map(({ key, at, text }) => (
          <button key={key} type="button" className="btn btn-primary" onClick={() => answer(at)}>
            {showControlCharacters(text)}
          </button>
        ))}
        {shown.input && shown.buttons.length === 0 && (
          <button type="button" className="btn btn-primary" onClick={() => answer()}>
            {texts.ask.send}
          </button>
        )}
        <button
          type="button"
          className="btn"
          onClick={() => isReady && decide(ask.id, { isAllowed: false, reason: '' })}
        >
          {texts.ask.close}
        </button>
      </div>
    </>
  );
}
