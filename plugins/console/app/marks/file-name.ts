// Names of saved files.

/** A name that is one on every system. */
export function fileNameOf(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[.-]+|[.-]+$/g, '');
  return plain === '' ? 'keystored' : plain.slice(0, 120);
}
