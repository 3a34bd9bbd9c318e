/** How much agents do without a person, the least first. */
export const AUTONOMY_LEVELS = ['read_only', 'supervised', 'full'] as const;
export type AutonomyLevel = (typeof AUTONOMY_LEVELS)[number];
