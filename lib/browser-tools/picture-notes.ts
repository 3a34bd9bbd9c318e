/** How a screenshot was taken, by its mode; pages leave these words out beside the picture. */
export const PICTURE_NOTES = {
  page: 'reconstructed from the elements of the page',
  display: 'as displayed',
  /** Of what is shared in place of this tab. */
  window: 'a window that the person chose, with all that it shows',
  monitor: 'a screen that the person chose, with all that is on it',
  unknown: 'a window or a screen that the person chose, with all that it shows',
} as const;
