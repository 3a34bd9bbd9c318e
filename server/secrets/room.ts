export { type KnownSecrets, lost, Withholding } from './withholding.ts';
