// Error of a store whose files differ from what was written.

/** Thrown if the store cannot be used: it is damaged, or another store. The message names the file. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}
