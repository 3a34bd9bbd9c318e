import { z } from 'zod';

/** Which of the texts of the policy asks for an approval, for pages to show it in their language. */
export const POLICY_REASON_CODES = ['policy', 'destructive', 'unknown_effects', 'taint'] as const;
export type PolicyReasonCode = (typeof POLICY_REASON_CODES)[number];

/** A run had read this: of each kind the tool that it came from at first. */
export const readBeforeSchema = z.object({ private: z.string(), untrusted: z.string() });
export type ReadBefore = z.infer<typeof readBeforeSchema>;

/** One of the reasons for which a person is asked. */
export const approvalReasonSchema = z.object({
  /** `rule`, `hook`: the text is that one's own. */
  code: z.enum([...POLICY_REASON_CODES, 'rule', 'hook']),
  text: z.string(),
  /** The code `taint` has it. */
  read: readBeforeSchema.optional(),
});
export type ApprovalReason = z.infer<typeof approvalReasonSchema>;
