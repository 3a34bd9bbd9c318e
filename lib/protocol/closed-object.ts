import { z } from 'zod';

/** An object that refuses a key that it has not, and says which it has. */
export const closedObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `it has the unknown key ${JSON.stringify(issue.keys?.[0] ?? '')}; its keys are ${Object.keys(shape).join(', ')}`
        : undefined,
  });
