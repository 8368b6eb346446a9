// Certificates that are shown beside keys: those of files, and those that CAs of the appliance have issued for the keys.
import { createPublicKey, hash, X509Certificate } from 'node:crypto';
import { isCertificateLabel, readPem } from '../../../core/base/texts/pem.ts';
import { Refused } from '../client.ts';
import type { LastingClient } from '../lasting/client.ts';
import type { Notices } from '../lasting/notices.ts';
import { askPages } from '../lasting/pages.ts';
import { usageError } from '../terminal/failure.ts';
import { readOctets, type Io } from '../terminal/io.ts';
import type { Chain, KeyVersion } from './shown-keys.ts';
import { refusalOf } from './signatures.ts';

/** Source of the certificates of some keys. `keys`: their names; `ca`: a CA of the appliance, which has issued them. */
export type CertificateChoice = { readonly keys: RegExp } & ({ readonly file: string } | { readonly ca: string });

export type Source = { readonly client: LastingClient; readonly notices: Notices; readonly io: Io };

/** A key whose certificates are looked for: DER SubjectPublicKeyInfo of its versions. */
type Certified = { readonly name: string; readonly publicKeys: readonly Buffer[] };

/** Digests in one request: as many as the appliance takes. */
const mostDigests = 50;

/**
 * The certificates of each key by its name, each with those above it; of a CA the newest first. What cannot be read is named on standard
 * error; rejects with a CK_RV when the appliance cannot be asked.
 */
export async function readChains(
  keys: readonly Certified[],
  choices: readonly CertificateChoice[],
  source: Source,
): Promise<ReadonlyMap<string, readonly Chain[]>> {
  const found = new Map<string, Chain[]>();
  const add = (name: string, chains: readonly Chain[]): void => void found.set(name, [...(found.get(name) ?? []), ...chains]);
  for (const choice of choices) {
    const chosen = keys.filter(({ name }) => choice.keys.test(name));
    if (chosen.length === 0) continue;
    if ('ca' in choice) {
      const issued = await readIssued(choice.ca, chosen, source);
      for (const { name, publicKeys } of chosen) {
        const chains = issued.filter(([own]) => own !== undefined && publicKeys.some((one) => isFor(own, one)));
        if (chains.length === 0) source.notices.tell(`no certificate of ${name} is shown: CA ${choice.ca} has issued none that is valid`);
        add(name, chains);
      }
      continue;
    }
    for (const { name } of chosen) {
      try {
        add(name, [certificatesIn(await readOctets(choice.file, source.io), choice.file)]);
      } catch (error) {
        source.notices.tell(`the certificate of ${name} is not shown: ${(error as Error).message}`);
      }
    }
  }
  return found;
}

function certificatesIn(octets: Buffer, path: string): Chain {
  const blocks = readPem(octets.toString('latin1')).filter(({ label }) => isCertificateLabel(label));
  try {
    return blocks.length === 0 ? [new X509Certificate(octets)] : blocks.map(({ text }) => new X509Certificate(text));
  } catch {
    throw usageError(`${path} has no certificate in PEM or DER`);
  }
}

/** Valid certificates that a CA has issued for keys, newest first, each with those above it. */
async function readIssued(ca: string, keys: readonly Certified[], source: Source): Promise<readonly Chain[]> {
  const digests = [...new Set(keys.flatMap(({ publicKeys }) => publicKeys.map((one) => hash('sha256', one))))];
  const path = `/v1/state/keystore/tls/ca/${encodeURIComponent(ca)}`;
  const answers: (readonly Issued[])[] = [];
  for (let at = 0; at < digests.length; at += mostDigests) {
    const query = new URLSearchParams({ 'public-key': digests.slice(at, at + mostDigests).join(','), status: 'valid', limit: '1000' });
    const page = () => askPages<Issued>(source.client, `${path}/certificates`, query);
    const answer = await unlessRefused(page, `cannot read the certificates of CA ${ca}`, source);
    if (answer === undefined) return [];
    answers.push(answer);
  }
  const issued = answers.flat().toSorted((one, other) => (other['not-before'] < one['not-before'] ? -1 : 1));
  if (issued.length === 0) return [];
  const query = new URLSearchParams({ fields: 'chain' });
  const askAbove = async () => JSON.parse((await source.client.ask({ method: 'GET', path, query })).body.toString()) as Above;
  const issuers = chainIn((await unlessRefused(askAbove, `cannot read the certificate of CA ${ca}`, source))?.chain);
  return issued.flatMap(({ certificate }) => chainIn(certificate)).map((own) => [own, ...issuersOf(own, issuers)]);
}

type Above = { readonly chain?: string };
type Issued = { readonly 'not-before': string; readonly certificate?: string };

/** The certificates of a text in PEM. */
export const chainIn = (pem = ''): Chain => readPem(pem).map(({ text }) => new X509Certificate(text));

/** The certificates above one, if the first of them has issued it: an older key of the CA may have. */
function issuersOf(own: X509Certificate, issuers: Chain): Chain {
  const [first] = issuers;
  return first !== undefined && own.checkIssued(first) && own.verify(first.publicKey) ? issuers : [];
}

/** The answer; undefined when it is refused, which standard error tells. */
async function unlessRefused<T>(ask: () => Promise<T>, failed: string, { notices }: Source): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const refusal = refusalOf(error, notices, failed);
    if (error instanceof Refused && [403, 404].includes(error.answer.status)) return undefined;
    throw refusal;
  }
}

/** The certificates of a version: its own first. */
export function chainOf({ publicKey }: Pick<KeyVersion, 'publicKey'>, chains: readonly Chain[]): Chain {
  for (const chain of chains) {
    const own = chain.find((one) => isFor(one, publicKey));
    if (own !== undefined) return [own, ...chain.filter((one) => one !== own)];
  }
  return [];
}

function isFor(certificate: X509Certificate, publicKey: Buffer): boolean {
  const { publicKey: certified } = certificate;
  return (
    certified.export({ format: 'der', type: 'spki' }).equals(publicKey) ||
    certified.equals(createPublicKey({ key: publicKey, format: 'der', type: 'spki' }))
  );
}
