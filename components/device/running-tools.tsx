import { useStore } from 'zustand';
import { callerName } from './caller-name.ts';
import { useDevicePage } from './device-context.tsx';
import type { DeviceStore } from './device-store.ts';
import { fill } from './texts.ts';
import { toolName } from './tool-words.ts';

/** What uses this device now, over the edge of the page, each with a button that ends it. */
export function RunningTools({ store }: { store: DeviceStore }) {
  const { texts } = useDevicePage();
  const running = useStore(store, (state) => state.running);
  // A question has the lower edge.
  const edge = useStore(store, ({ asks }) => (asks.length > 0 ? 'top-0' : 'bottom-0'));
  if (running.length === 0) return null;
  return (
    <section
      aria-label={texts.running.title}
      className={`fade-in fixed inset-x-0 z-10 ${edge} mx-auto max-h-[40dvh] max-w-md overflow-y-auto rounded-2xl border-2 border-accent safe-area bg-bg shadow-(--shadow) [--edge:0.5rem]`}
    >
      <ul className="flex flex-col gap-1">
        {running.map(({ callId, tool, requestedBy, stop }) => {
          const label = toolName(texts, tool);
          const caller = callerName(requestedBy, texts);
          return (
            <li key={callId} className="flex items-center justify-between gap-2 pl-2">
              <span>{fill(texts.running.now, { caller, tool: label })}</span>
              <button
                type="button"
                className="btn btn-danger shrink-0"
                aria-label={fill(texts.running.stopTool, { tool: label })}
                onClick={stop}
              >
                {texts.running.stop}
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
