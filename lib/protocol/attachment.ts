import { z } from 'zod';

/** A picture or file beside a result or a message. The bytes lie in a blob, never in the record. */
export const attachmentSchema = z.object({
  blob_id: z.string(),
  media_type: z.string(),
  size: z.number().int().nonnegative(),
  name: z.string().optional(),
  alt: z.string().optional(),
  width: z.number().int().positive().optional(),
  height: z.number().int().positive().optional(),
  /** A model reads this of a file of text without asking: all of it, or the beginning. */
  text: z.string().optional(),
  text_cut: z.literal(true).optional(),
  /** Why a picture is shown to no model. */
  unreadable: z.string().optional(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

export const isImage = ({ media_type }: Attachment): boolean => media_type.startsWith('image/');

/** A list has it so: the file itself is a request away. */
export const withoutText = ({ text: _, text_cut: __, ...listed }: Attachment): Attachment => listed;
