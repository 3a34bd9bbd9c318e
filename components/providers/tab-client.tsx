'use client';

import { DevicePromptBanner } from './device-prompt-banner.tsx';
import { useTabClient } from './use-tab-client.ts';
import { useWebMcp } from './use-web-mcp.ts';

/** This tab as a client of the server, on every page, and its questions to the person. */
export function TabClient() {
  useTabClient();
  useWebMcp();
  return <DevicePromptBanner />;
}
