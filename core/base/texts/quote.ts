// Quotes a word for POSIX shells, so that the shell takes it as it is.

/** Words that need no quotes. */
const plain = /^[A-Za-z0-9_./:@%+,=-]+$/;

/** `it's` becomes `'it'\''s'`. NUL, which no command can be given, is refused with RangeError. */
export function quote(word: string): string {
  if (word.includes('\0')) throw new RangeError('a word of a command cannot contain NUL');
  return plain.test(word) && !word.startsWith('=') && !word.startsWith('~') ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
