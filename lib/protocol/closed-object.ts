import { z } from 'zod';

const keysOf = (shape: z.ZodRawShape): string => {
  const keys = Object.keys(shape);
  return keys.length === 0 ? 'it has no keys' : `its keys are ${keys.join(', ')}`;
};

/** An object that refuses a key that it has not, and says which it has. */
export const closedObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `it has the unknown key ${JSON.stringify(issue.keys?.[0] ?? '')}; ${keysOf(shape)}`
        : undefined,
  });
