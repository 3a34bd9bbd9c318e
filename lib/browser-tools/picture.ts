/** One picture, taken off the screen or a camera. */
export interface Picture {
  readonly blob: Blob;
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
}
