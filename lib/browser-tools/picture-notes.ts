/** How a screenshot was taken, by its mode; pages leave these words out beside the picture. */
export const PICTURE_NOTES = {
  page: 'reconstructed from the elements of the page',
  display: 'as displayed',
} as const;
