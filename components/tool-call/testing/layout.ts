import { vi } from 'vitest';

export interface Layout {
  /** In px, of each element as far as it is in view. */
  readonly height: number;
  /** Of what is in it; as high as the element itself when it fits. */
  readonly content?: number;
}

/** Gives every element a size, which happy-dom does not. Until the end of the test. */
export function layOut({ height, content = height }: Layout): void {
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(height);
  vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockReturnValue(content);
}
