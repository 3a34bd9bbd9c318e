import { useRef } from 'react';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { DEVICE_WORKER, endPush } from '../push/push-browser.ts';
import { useDevicePage } from './device-context.tsx';
import type { PairedDevice } from './device-memory.ts';
import type { RunningDevice } from './device-runtime.ts';
import { fill } from './texts.ts';

interface ForgetDeviceProps {
  kept: PairedDevice;
  running: RunningDevice | null;
  onForgotten: () => void;
}

/** Ends the pairing on this side. The server's side is the workbench's to end. */
export function ForgetDevice({ kept, running, onForgotten }: ForgetDeviceProps) {
  const { texts, memory } = useDevicePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const workbench = showControlCharacters(kept.workbench.name);
  const forget = async () => {
    dialog.current?.close();
    // First the token: what fails after it leaves no access behind.
    memory.forget();
    await running?.stop();
    // The push service then answers the server that there is none, which removes it there.
    await endPush(DEVICE_WORKER);
    onForgotten();
  };
  return (
    <>
      <button type="button" className="btn btn-danger" onClick={() => dialog.current?.showModal()}>
        {texts.forget.button}
      </button>
      <dialog
        ref={dialog}
        aria-labelledby="forget"
        className="popup m-auto max-w-sm p-4 backdrop:bg-black/50"
      >
        <div className="flex flex-col gap-3">
          <h2 id="forget" className="font-semibold text-xl">
            {texts.forget.title}
          </h2>
          <p>{fill(texts.forget.text, { workbench })}</p>
          <div className="grid grid-cols-2 gap-2">
            <button type="button" className="btn" onClick={() => dialog.current?.close()}>
              {texts.forget.no}
            </button>
            <button type="button" className="btn btn-danger" onClick={() => void forget()}>
              {texts.forget.yes}
            </button>
          </div>
        </div>
      </dialog>
    </>
  );
}
