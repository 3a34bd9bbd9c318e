import { config } from 'zod';

/**
 * Imported before any schema: where a schema is made, zod tries whether it may
 * evaluate code. The policy of our pages says no, and the browser would report
 * each page for the attempt.
 */
config({ jitless: true });
