import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { formatDuration } from '#lib/format/amounts';
import { showControlCharacters, visibleJsonText } from '#lib/format/show-control-characters';
import { callerName } from './caller-name.ts';
import { useDevicePage } from './device-context.tsx';
import type { Ask, DeviceStore, Shown } from './device-store.ts';
import { keyed } from './keyed.ts';
import { fill } from './texts.ts';
import { toolDeed, toolName, toolQuestion } from './tool-words.ts';
import { useNow } from './use-now.ts';

/** Of a value. A longer one is cut; the workbench has all of it. */
const MOST_CHARS = 2_000;
const MOST_REASON_CHARS = 300;

/** The question of a call, over the lower part of the page. It takes no focus. */
export function AskSheet({ store }: { store: DeviceStore }) {
  const { texts } = useDevicePage();
  const asks = useStore(store, (state) => state.asks);
  const [ask] = asks;
  const labelOf = ({ tool }: Ask) => toolName(texts, tool);
  return (
    <>
      <p role="alert" className="sr-only">
        {ask ? fill(texts.ask.alert, { tool: labelOf(ask) }) : ''}
      </p>
      {ask && (
        <section
          key={ask.id}
          aria-label={texts.ask.region}
          data-call-id={ask.callId}
          className="fade-in fixed inset-x-0 z-10 bottom-0 mx-auto flex max-h-[85dvh] max-w-md flex-col gap-3 rounded-t-2xl border-attn border-t-4 safe-area bg-bg shadow-(--shadow) [--edge:1rem]"
        >
          <AwayNote store={store} />
          {ask.shown ? (
            <ShownQuestion ask={ask} shown={ask.shown} store={store} />
          ) : (
            <>
              <Question ask={ask} label={labelOf(ask)} waiting={asks.length - 1} />
              <Answer ask={ask} store={store} />
            </>
          )}
        </section>
      )}
    </>
  );
}

/** The sheet covers the state of the page. */
function AwayNote({ store }: { store: DeviceStore }) {
  const { texts } = useDevicePage();
  const isAway = useStore(store, ({ connection }) => connection.state === 'reconnecting');
  return isAway && <p className="text-sm text-wait">{texts.ask.away}</p>;
}

function Question({ ask, label, waiting }: { ask: Ask; label: string; waiting: number }) {
  const { texts } = useDevicePage();
  return (
    // Long arguments are read by moving this part; the buttons stay.
    <div className="flex min-h-0 flex-col gap-2 overflow-y-auto">
      <h2 className="font-semibold text-xl">{fill(texts.ask.title, { tool: label })}</h2>
      {ask.requestedBy !== undefined && (
        <p>{fill(texts.ask.by, { caller: callerName(ask.requestedBy, texts) })}</p>
      )}
      {ask.message && <p>{toolQuestion(texts, ask) ?? showControlCharacters(ask.message)}</p>}
      {ask.detail && <p className="whitespace-pre-wrap">{readable(ask.detail)}</p>}
      {ask.args && (
        <>
          <p className="text-muted text-sm">
            {ask.isHiddenRule ? texts.ask.hiddenRule : texts.ask.askRule}
          </p>
          <Arguments args={ask.args} />
        </>
      )}
      <p className="text-muted text-sm">
        <TimeLeft ask={ask} /> {waiting > 0 && fill(texts.ask.more, { count: waiting })}
      </p>
    </div>
  );
}

function Arguments({ args }: { args: Readonly<Record<string, unknown>> }) {
  const { texts } = useDevicePage();
  const given = Object.entries(args);
  if (given.length === 0) return <p className="text-muted text-sm">{texts.ask.noArgs}</p>;
  return (
    <dl className="flex flex-col gap-1 rounded-lg bg-surface2 p-2" aria-label={texts.ask.args}>
      {given.map(([name, value]) => (
        <div key={name}>
          <dt className="mono text-muted">{showControlCharacters(name)}</dt>
          <dd className="whitespace-pre-wrap">{readable(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A text as it is, anything else as JSON. */
function readable(value: unknown): string {
  const text =
    typeof value === 'string'
      ? showControlCharacters(value, { keepLayout: true })
      : visibleJsonText(value);
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text;
}

function TimeLeft({ ask }: { ask: Ask }) {
  const { texts, locale } = useDevicePage();
  const left = ask.endsAt - useNow(Date.now);
  const time = formatDuration(left, locale, { whole: true, fromSeconds: true });
  return <span className="tabular-nums">{fill(texts.ask.left, { time })}</span>;
}

function Answer({ ask, store }: { ask: Ask; store: DeviceStore }) {
  const { texts } = useDevicePage();
  const [isDeclining, setDeclining] = useState(false);
  const isReady = useTapGuard();
  const { decide } = store.getState();
  if (isDeclining) {
    return (
      <DeclineForm
        onBack={() => setDeclining(false)}
        onDecline={(reason) => decide(ask.id, { isAllowed: false, reason })}
      />
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <button
        type="button"
        className="btn btn-primary min-h-14 w-full text-lg"
        aria-disabled={!isReady}
        onClick={() => isReady && decide(ask.id, { isAllowed: true, reason: '' })}
      >
        {(ask.message ? toolDeed(texts, ask.tool) : undefined) ?? texts.ask.allow}
      </button>
      <button
        type="button"
        className="btn btn-danger w-full"
        aria-disabled={!isReady}
        onClick={() => isReady && setDeclining(true)}
      >
        {texts.ask.decline}
      </button>
    </div>
  );
}

function DeclineForm({
  onBack,
  onDecline,
}: {
  onBack: () => void;
  onDecline: (reason: string) => void;
}) {
  const { texts } = useDevicePage();
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onDecline(reason.trim());
  };
  return (
    <form className="flex flex-col gap-2" onSubmit={submit}>
      <label className="flex flex-col gap-1">
        {texts.ask.reason}
        <input
          ref={field}
          className="field"
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          maxLength={MOST_REASON_CHARS}
          autoComplete="off"
        />
      </label>
      <div className="grid grid-cols-2 gap-2">
        <button type="button" className="btn" onClick={onBack}>
          {texts.ask.back}
        </button>
        <button type="submit" className="btn btn-danger">
          {texts.ask.declineNow}
        </button>
      </div>
    </form>
  );
}

const MOST_ANSWER_CHARS = 2_000;

/** A question of the caller's own. The person's answer is the result of the call. */
function ShownQuestion({ ask, shown, store }: { ask: Ask; shown: Shown; store: DeviceStore }) {
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

/** A tap that was on its way to what lay there before allows nothing. */
const TAP_GUARD_MS = 300;

/** False in the first moment of what it stands in. */
function useTapGuard(): boolean {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), TAP_GUARD_MS);
    return () => clearTimeout(timer);
  }, []);
  return isReady;
}
