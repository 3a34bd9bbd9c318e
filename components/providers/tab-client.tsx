'use client';

import { useEffect } from 'react';
import { DevicePromptBanner } from './device-prompt-banner.tsx';
import { useWebMcp } from './use-web-mcp.ts';
import { useHasRole, useWorkbench } from './workbench-context.tsx';

/** This tab as a client of the server, on every page, and its questions to the person. */
export function TabClient() {
  useTabClient();
  useWebMcp();
  return <DevicePromptBanner />;
}

/**
 * Starts this tab's client once the page is there, and only for those who may be one; its code is
 * not part of the first load.
 */
export function useTabClient(): void {
  const workbench = useWorkbench();
  const mayServe = useHasRole('operator');
  useEffect(() => {
    if (!mayServe) return;
    let stop = () => {};
    let left = false;
    import('./start-tab-client.ts').then(
      ({ startTabClient }) => {
        if (!left) stop = startTabClient(workbench);
      },
      (error: unknown) => {
        console.warn(`tab client: ${String(error)}`);
        workbench.tab.setState({ status: 'disconnected' });
      },
    );
    return () => {
      left = true;
      stop();
    };
  }, [workbench, mayServe]);
}
