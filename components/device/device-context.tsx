import { createContext, type ReactNode, use } from 'react';
import type { Locale } from '#lib/i18n/locales';
import type { DeviceMemory } from './device-memory.ts';
import type { PairingApi } from './pairing-api.ts';
import type { DeviceTexts } from './texts.ts';

/** What all parts of the page use. */
export interface DevicePage {
  readonly texts: DeviceTexts;
  readonly locale: Locale;
  readonly memory: DeviceMemory;
  /** Whether what the page keeps is there after it was closed. */
  readonly isKept: boolean;
  readonly api: PairingApi;
}

const Context = createContext<DevicePage | null>(null);

export function DevicePageProvider({ page, children }: { page: DevicePage; children: ReactNode }) {
  return <Context value={page}>{children}</Context>;
}

export function useDevicePage(): DevicePage {
  const page = use(Context);
  if (!page) throw new Error('DevicePageProvider is missing above this component');
  return page;
}
