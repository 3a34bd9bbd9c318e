/** Where the code of the store's threads lies, unless it is a build: beside this file. */
export const threadSource = (name: 'read-worker' | 'write-worker') =>
  new URL(`./${name}.ts`, import.meta.url);
