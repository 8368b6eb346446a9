// Loader of the Wycheproof vectors beside this file (source and licence: wycheproof/SOURCE.md, wycheproof/LICENSE).
import { readFileSync } from 'node:fs';

/** `acceptable`: valid by a lax reading of the standard; either answer is right, and the test says which one we give. */
export type Expected = 'valid' | 'invalid' | 'acceptable';

/** One vector; which fields it has depends on the file. Octets are hexadecimal. */
export type Vector = {
  readonly tcId: number;
  readonly comment: string;
  readonly flags: readonly string[];
  readonly result: Expected;
  readonly msg: string;
  readonly sig: string;
  readonly key: string;
  readonly tag: string;
  readonly iv: string;
  readonly aad: string;
  readonly ct: string;
  readonly ctx?: string;
  readonly label?: string;
  /** of a key agreement */
  readonly public?: string;
  readonly private?: string;
  readonly shared?: string;
  /** of ML-KEM: seed of the private key, ciphertext, secret */
  readonly seed?: string;
  readonly c?: string;
  readonly K?: string;
};

/** Vectors that share a key or a size. */
export type VectorGroup = {
  readonly tests: readonly Vector[];
  readonly publicKeyDer?: string;
  readonly privateKeyPem?: string;
  readonly ivSize?: number;
  readonly keySize?: number;
  readonly tagSize?: number;
};

/** A file's groups, split into the vectors that apply here and, by reason, the ones that do not. */
export type VectorFile = {
  readonly name: string;
  readonly groups: readonly VectorGroup[];
  /** `484 run`, or `39 run, 277 skipped (nonce of another length 120, …)`: goes into the test's title */
  readonly summary: string;
};

/** Reads a file. `skip` gives the reason why a vector does not apply, or undefined. */
export function loadWycheproof(
  name: string,
  skip: (vector: Vector, group: VectorGroup) => string | undefined = () => undefined,
): VectorFile {
  const path = new URL(`wycheproof/${name}_test.json`, import.meta.url);
  const file = JSON.parse(readFileSync(path, 'utf8')) as { numberOfTests: number; testGroups: VectorGroup[] };
  const skipped = new Map<string, number>();
  const groups = file.testGroups.map((group) => {
    const tests = group.tests.filter((vector) => {
      const reason = skip(vector, group);
      if (reason !== undefined) skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
      return reason === undefined;
    });
    return { ...group, tests };
  });
  const run = groups.reduce((sum, group) => sum + group.tests.length, 0);
  const reasons = Array.from(skipped, ([reason, count]) => `${reason} ${count}`).join(', ');
  const left = file.numberOfTests - run;
  return { name, groups, summary: left === 0 ? `${run} run` : `${run} run, ${left} skipped (${reasons})` };
}

/** Octets of a vector's field as base64. */
export function hexToBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}
