import { type FormEvent, useRef } from 'react';
import { OLDEST_BROWSERS } from '#lib/i18n/oldest-browsers';
import { useDevicePage } from './device-context.tsx';
import type { PairingStep, PairingStore } from './pairing-store.ts';
import { ProblemNote } from './problem-note.tsx';
import { fill } from './texts.ts';

type At = Extract<PairingStep, { step: 'code' | 'looking' }>;

/** The code, typed or pasted in any form that people use. */
export function CodeForm({ at, store }: { at: At; store: PairingStore }) {
  const { texts } = useDevicePage();
  const { type, look } = store.getState();
  const field = useRef<HTMLInputElement>(null);
  const isLooking = at.step === 'looking';
  const problem = at.step === 'code' ? at.problem : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void look();
  };
  const paste = () => {
    // Denied, or nothing there: the person can paste by the keyboard.
    const read = navigator.clipboard.readText().catch(() => '');
    void read.then((text) => type(codeOf(text))).then(() => field.current?.focus());
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <h1 className="font-semibold text-2xl">{texts.pair.title}</h1>
      <p>{texts.pair.intro}</p>
      <label className="flex flex-col gap-1 font-medium">
        {texts.pair.code}
        <input
          ref={field}
          className="field mono text-center text-xl uppercase tracking-widest"
          value={at.typed}
          onChange={({ target }) => type(codeOf(target.value))}
          readOnly={isLooking}
          autoComplete="one-time-code"
          autoCapitalize="characters"
          autoCorrect="off"
          spellCheck={false}
          maxLength={512}
          aria-describedby="code-hint code-problem"
          aria-invalid={problem !== undefined}
        />
      </label>
      <p id="code-hint" className="text-muted">
        {texts.pair.codeHint}
      </p>
      <ProblemNote id="code-problem" problem={problem} />
      <div className="grid grid-cols-2 gap-2">
        {/* Without a secure context there is no reading of the clipboard. */}
        <button
          type="button"
          className="btn"
          disabled={navigator.clipboard?.readText === undefined}
          onClick={paste}
        >
          {texts.pair.paste}
        </button>
        <button type="submit" className="btn btn-primary" aria-disabled={isLooking}>
          {texts.pair.next}
        </button>
      </div>
      <p className="text-muted text-sm">{fill(texts.pair.oldest, { browsers: OLDEST_BROWSERS })}</p>
      <p role="status" className="text-muted empty:hidden">
        {isLooking ? texts.pair.looking : ''}
      </p>
    </form>
  );
}

/** A whole link is taken as well: its code is what people mean. */
const codeOf = (typed: string): string => (/\/pair\/([^/?#\s]+)/.exec(typed)?.[1] ?? typed).trim();
