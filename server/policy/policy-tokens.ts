/** What the policy asks about the tokens that were made here, by their ids. */
export interface PolicyTokens {
  /** Whether it was not revoked. */
  isLive(tokenId: string): boolean;
  /** Also of one that was revoked. */
  isProgram(tokenId: string): boolean;
  /** That of the program that has the name now. */
  programNamed(name: string): string | undefined;
}
