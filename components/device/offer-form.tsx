import { type FormEvent, useEffect, useState } from 'react';
import { readUserAgent } from '#lib/format/read-user-agent';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { fingerprintWords } from '#lib/i18n/fingerprint-words';
import { DEVICE_NAME_CHARS } from '#lib/protocol/pairing-code';
import { useDevicePage } from './device-context.tsx';
import { createDeviceStore, type OwnTool, ruleOf } from './device-store.ts';
import { keyed } from './keyed.ts';
import type { PairingStep, PairingStore } from './pairing-store.ts';
import { ProblemNote } from './problem-note.tsx';
import { StepHeading } from './step-heading.tsx';
import { fill } from './texts.ts';
import { ToolGroups } from './tool-groups.tsx';

type At = Extract<PairingStep, { step: 'offer' | 'joining' }>;

/** Whose workbench it is, and what this device brings. */
export function OfferForm({ at, store }: { at: At; store: PairingStore }) {
  const { texts, memory } = useDevicePage();
  const [name, setName] = useState(() => deviceName(navigator.userAgent));
  const tools = useDeviceTools();
  const [chosen] = useState(() => createDeviceStore(memory));
  const isJoining = at.step === 'joining';
  const paired = memory.device();
  const join = (event: FormEvent) => {
    event.preventDefault();
    if (isJoining || !Array.isArray(tools)) return;
    const { rules } = chosen.getState();
    const specs = tools.map(({ spec }) => spec);
    const offered = specs.filter(({ name }) => ruleOf(rules, name) !== 'off');
    void store
      .getState()
      .join({ name: name.trim() || deviceName(navigator.userAgent), tools: offered });
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={join}>
      <WhoseCode at={at} />
      {paired && (
        <p className="text-wait">
          {fill(texts.pair.already, { workbench: showControlCharacters(paired.workbench.name) })}
        </p>
      )}
      <label className="flex flex-col gap-1 font-medium">
        {texts.pair.name}
        <input
          className="field"
          value={name}
          onChange={({ target }) => setName(target.value)}
          maxLength={DEVICE_NAME_CHARS}
          autoComplete="off"
        />
      </label>
      <h2 className="font-semibold text-lg">{texts.pair.tools}</h2>
      <p className="text-muted">{texts.pair.toolsHint}</p>
      {tools === 'failed' && <p role="alert">{texts.pair.toolsFailed}</p>}
      {tools === 'loading' && <p role="status">{texts.pair.toolsLoading}</p>}
      {Array.isArray(tools) && <ToolGroups tools={tools} store={chosen} />}
      <div className="sticky bottom-0 flex flex-col gap-2 bg-bg pt-2 pb-4">
        <ProblemNote problem={at.step === 'offer' ? at.problem : undefined} />
        <button
          type="submit"
          className="btn btn-primary w-full text-lg"
          aria-disabled={isJoining || !Array.isArray(tools)}
        >
          {isJoining ? texts.pair.joining : texts.pair.join}
        </button>
        <button type="button" className="btn btn-ghost" onClick={store.getState().again}>
          {texts.pair.cancel}
        </button>
      </div>
    </form>
  );
}

function WhoseCode({ at: { workbench } }: { at: At }) {
  const { texts, locale } = useDevicePage();
  return (
    <>
      <StepHeading className="flex flex-col gap-1">
        <span className="text-base text-muted">{texts.pair.whose}</span>
        <span className="font-semibold text-2xl">{showControlCharacters(workbench.name)}</span>
      </StepHeading>
      <p>{texts.pair.compare}</p>
      <ul className="grid grid-cols-2 gap-2">
        {keyed(fingerprintWords(workbench.fingerprint, locale)).map(({ key, text }) => (
          <li
            key={key}
            className="rounded-lg border border-line bg-surface p-2 text-center font-semibold text-lg"
          >
            {text}
          </li>
        ))}
      </ul>
    </>
  );
}

/** They are in the heavy part of the page, which is loaded meanwhile. */
function useDeviceTools(): readonly OwnTool[] | 'loading' | 'failed' {
  const [tools, setTools] = useState<readonly OwnTool[] | 'loading' | 'failed'>('loading');
  useEffect(() => {
    import('./device-runtime.ts').then(
      ({ listDeviceTools }) => setTools(listDeviceTools()),
      () => setTools('failed'),
    );
  }, []);
  return tools;
}

/** A name to begin with, e.g. `Chrome on Android`, or the model where the browser names it. */
function deviceName(userAgent: string): string {
  const { browser = 'Browser', system } = readUserAgent(userAgent);
  // Browsers that hide the model write `K` in its place.
  const model = /Android [\d.]+; ([^;)]{2,40}?)(?: Build\/[^)]*)?\)/.exec(userAgent)?.[1];
  const where = model ?? system;
  return where === undefined ? browser : `${browser} on ${where}`;
}
