export {
  createDeviceServices,
  type DeviceOrigins,
  type OpenedDevices,
  openDevices,
  pairingConfigSchema,
} from './open-devices.ts';
export type { By, DeviceService } from './paired-devices.ts';
export type { PairingService } from './pairing-service.ts';
export { ToolAdmission } from './tool-admission.ts';
