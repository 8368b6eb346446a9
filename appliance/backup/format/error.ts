// Why a backup does not open.

/** The message is for people: what is wrong with the file, and where there is one, the fix. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
