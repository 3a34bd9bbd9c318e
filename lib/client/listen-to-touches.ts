const TOUCHES = ['pointerdown', 'keydown', 'focus'] as const;

/** Calls back when a person touches this page. Returns the function that ends it. */
export function listenToTouches(listener: () => void): () => void {
  const ended = new AbortController();
  const onEvent = ({ isTrusted, type, target }: Event) => {
    // An event that a script made up is not a person's, nor where it moves the focus to within the page.
    if (isTrusted && (type !== 'focus' || target === window)) listener();
  };
  const options = { signal: ended.signal, capture: true, passive: true };
  for (const event of TOUCHES) window.addEventListener(event, onEvent, options);
  return () => ended.abort();
}
