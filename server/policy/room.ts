export { openPolicy } from './open-policy.ts';
export type { AutonomyState, PolicyService } from './policy-service.ts';
