export { type DeviceOrigins, openDevices } from './open-devices.ts';
export { type By, type DeviceService, PairedDevices } from './paired-devices.ts';
export { DevicePairing, type PairingService } from './pairing-service.ts';
export { ToolAdmission } from './tool-admission.ts';
