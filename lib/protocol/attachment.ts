import { z } from 'zod';

/** A picture or file beside a result. The bytes lie in a blob, never in the record. */
export const attachmentSchema = z.object({
  blob_id: z.string(),
  media_type: z.string(),
  size: z.number().int().nonnegative(),
  name: z.string().optional(),
  alt: z.string().optional(),
  width: z.number().int().positive().optional(),
  height: z.number().int().positive().optional(),
});
export type Attachment = z.infer<typeof attachmentSchema>;
