import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import type { BrowserEnv } from './browser-env.ts';

/** What kind of device and browser this is. */
export const createDeviceInfoTool = (
  env: Pick<BrowserEnv, 'device' | 'battery' | 'secureContext'>,
): ClientToolDefinition =>
  defineClientTool({
    name: 'device.info',
    displayName: 'Device',
    description:
      'Describes this device and browser: platform, screen, window, languages, time zone, connection, battery.',
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    timeoutMs: 5_000,
    args: {},
    async run() {
      const battery = await env.battery();
      return {
        output: {
          ...env.device(),
          ...(battery && { battery: { level: battery.level, charging: battery.charging } }),
          secure_context: env.secureContext,
        },
      };
    },
  });

const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** How full the battery is. */
export const createBatteryTool = (env: Pick<BrowserEnv, 'battery'>): ClientToolDefinition =>
  defineClientTool({
    name: 'battery.read',
    displayName: 'Battery',
    description:
      'Returns how full the battery of this device is (0 to 1), whether it charges, and how long that or what is left takes.',
    annotations: READS,
    timeoutMs: 5_000,
    args: {},
    async run() {
      const battery = await env.battery();
      if (!battery) throw new ToolFailure('unavailable', 'This browser reports no battery.');
      const { level, charging, chargingTime, dischargingTime } = battery;
      return {
        output: {
          level,
          charging,
          ...(Number.isFinite(chargingTime) && { charging_time_s: chargingTime }),
          ...(Number.isFinite(dischargingTime) && { discharging_time_s: dischargingTime }),
        },
      };
    },
  });

/** How this device is connected. */
export const createNetworkTool = ({ network }: Pick<BrowserEnv, 'network'>): ClientToolDefinition =>
  defineClientTool({
    name: 'network.read',
    displayName: 'Network',
    description:
      'Returns whether this device is online and, where the browser reports it, the kind of its connection, its speed, its round trip and whether data is to be saved.',
    annotations: READS,
    timeoutMs: 5_000,
    args: {},
    run: () => ({ output: network.read() }),
  });
