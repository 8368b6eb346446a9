// Error of a backup that does not open.

/** The message is for people: the fault of the file and, if there is one, the remedy. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
