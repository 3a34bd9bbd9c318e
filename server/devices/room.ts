export type { By, DeviceOrigins, DeviceService, PairingService } from './device-services.ts';
export { openDevices } from './open-devices.ts';
export { PairedDevices } from './paired-devices.ts';
export { DevicePairing } from './pairing-service.ts';
export { ToolAdmission } from './tool-admission.ts';
