// The error of a store whose files are not what was written.

/** The store cannot be used as it is: it is damaged, or another one. The message names the file. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}
