// Dropped files, put together: a file with its signature is verified, a file without one is signed.
import { fileNameOf } from '../../marks/file-name.ts';

export type Named = { readonly name: string };
export type Pair<One> = { readonly file: One; readonly signature?: One };

const endings = ['.sig', '.asc', '.sign', '.signature'];

/** Name under which the signature of a file is saved: that of the file as far as it is one on every system, and the ending. */
export function signatureNameOf(name: string, ending: '.sig' | '.asc'): string {
  return `${fileNameOf(name).slice(0, 110)}${ending}`;
}

/** Tells whether a file is called as signatures are. */
export function isSignatureName(name: string): boolean {
  return endings.some((ending) => name.toLowerCase().endsWith(ending));
}

/** Files in their order, each with the signature that has its name and an ending more, or the name that this page saves it by. */
export function pairsOf<One extends Named>(files: readonly One[]): readonly Pair<One>[] {
  const byName = new Map(files.map((one) => [one.name, one]));
  const namesFor = (name: string): readonly string[] => [
    ...endings.map((ending) => `${name}${ending}`),
    ...(byName.has(fileNameOf(name)) ? [] : [signatureNameOf(name, '.sig'), signatureNameOf(name, '.asc')]),
  ];
  const signatureOf = ({ name }: One): One | undefined =>
    namesFor(name)
      .map((one) => byName.get(one))
      .find((one) => one !== undefined);
  const taken = new Set(files.flatMap((one) => signatureOf(one) ?? []));
  return files
    .filter((one) => !taken.has(one))
    .map((file) => {
      const signature = signatureOf(file);
      return signature === undefined ? { file } : { file, signature };
    });
}
