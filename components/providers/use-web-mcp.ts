'use client';

import { useEffect } from 'react';
import { browserMemory } from './stored-text.ts';
import { useHasRole, useUi, useWorkbench } from './workbench-context.tsx';

const KEY = 'callboard:web-mcp';

/** Offers this tab's tools to the agent of its browser, once a person has switched that on; its code is not part of the first load. */
export function useWebMcp(): void {
  const workbench = useWorkbench();
  const isOn = useUi((state) => state.webMcp);
  const mayServe = useHasRole('operator');
  useEffect(() => workbench.ui.getState().setWebMcp(browserMemory.read(KEY) === 'on'), [workbench]);
  useEffect(() => {
    if (!isOn || !mayServe) return;
    let stop = () => {};
    let left = false;
    import('./start-web-mcp.ts').then(
      ({ startWebMcp }) => {
        if (!left) stop = startWebMcp(workbench);
      },
      (error: unknown) => console.warn(`WebMCP: ${String(error)}`),
    );
    return () => {
      left = true;
      stop();
    };
  }, [workbench, isOn, mayServe]);
}

/** Kept for this browser. */
export function useWebMcpSwitch(): { readonly isOn: boolean; set(on: boolean): void } {
  const isOn = useUi((state) => state.webMcp);
  const setWebMcp = useUi((state) => state.setWebMcp);
  return {
    isOn,
    set: (on) => {
      browserMemory.write(KEY, on ? 'on' : null);
      setWebMcp(on);
    },
  };
}
