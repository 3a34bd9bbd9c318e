import type { KeyValueStorage } from '#lib/client/client-identity';
import {
  type Guard,
  listOf,
  number,
  optional,
  REFUSED,
  shape,
  text,
} from '#lib/client/guards/guard';
import { readJson } from '#lib/json/parse-json';
import type { Workbench } from '#lib/protocol/device';

/** A request that a person has not decided yet, as far as this page has seen. */
export interface AskingDevice {
  readonly token: string;
  readonly name: string;
  readonly workbench: Workbench;
  /** Unix seconds of the server. */
  readonly expires_at: number;
}

/** What this browser keeps of its pairing. The token is in it, and nowhere else. */
export interface PairedDevice {
  readonly token: string;
  readonly name: string;
  readonly workbench: Workbench;
  readonly device_id?: string | undefined;
}

const workbench = shape<Workbench>({ name: text, fingerprint: listOf(number) });
const askingDevice = shape<AskingDevice>({
  token: text,
  name: text,
  workbench,
  expires_at: number,
});
const pairedDevice = shape<PairedDevice>({
  token: text,
  name: text,
  workbench,
  device_id: optional(text),
});

const KEY = 'callboard:device';

/** Values of this page by name; each is checked when it is read, since anything may lie there. */
export interface DeviceMemory {
  read<Value>(name: string, guard: Guard<Value>): Value | undefined;
  write(name: string, value: unknown): void;
  asking(): AskingDevice | undefined;
  keepAsking(device: AskingDevice): void;
  forgetAsking(): void;
  device(): PairedDevice | undefined;
  keepDevice(device: PairedDevice): void;
  /** The rules and the list of uses stay, for the next pairing. */
  forgetDevice(): void;
  /** All of it. */
  forget(): void;
}

export function createDeviceMemory(storage: KeyValueStorage): DeviceMemory {
  const names = ['', ':asking', ':rules', ':uses', ':awake', ':push'];
  const memory: DeviceMemory = {
    read(name, guard) {
      const value = guard(readJson(storage.getItem(KEY + name) ?? 'null'));
      return value === REFUSED ? undefined : value;
    },
    write: (name, value) => storage.setItem(KEY + name, JSON.stringify(value)),
    asking: () => memory.read(':asking', askingDevice),
    keepAsking: (device) => memory.write(':asking', device),
    forgetAsking: () => storage.removeItem(`${KEY}:asking`),
    device: () => memory.read('', pairedDevice),
    keepDevice: (device) => memory.write('', device),
    forgetDevice: () => storage.removeItem(KEY),
    forget() {
      for (const name of names) storage.removeItem(KEY + name);
    },
  };
  return memory;
}

/** Where a browser keeps nothing, the page works until it is closed. */
export function pageStorage(): { storage: KeyValueStorage; isKept: boolean } {
  try {
    const probe = `${KEY}:probe`;
    localStorage.setItem(probe, '1');
    localStorage.removeItem(probe);
    return { storage: localStorage, isKept: true };
  } catch {
    const values = new Map<string, string>();
    const storage = {
      getItem: (key: string) => values.get(key) ?? null,
      setItem: (key: string, value: string) => void values.set(key, value),
      removeItem: (key: string) => void values.delete(key),
    };
    return { storage, isKept: false };
  }
}
