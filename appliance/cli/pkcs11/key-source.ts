// The keys that the command shows: asked of the appliance by name, pattern or label, with the certificates that belong to them.
import type { ShownObject } from '../../../hsm/p11-kit/remote-token.ts';
import { Refused } from '../client.ts';
import type { Notices } from '../lasting/notices.ts';
import { askPages } from '../lasting/pages.ts';
import { type CertificateChoice, chainIn, chainOf, readChains, type Source } from './certificates.ts';
import { longestPart, patternOf } from './patterns.ts';
import { type Chain, type HashName, type KeyVersion, objectsOf, type SigningKey } from './shown-keys.ts';
import { refusalOf } from './signatures.ts';

export type Choice = {
  /** names, and patterns with `*` */
  readonly names: readonly string[];
  /** labels of the keys that are shown where no name is given: `pkcs11=true` */
  readonly selector: string;
  readonly certificates: readonly CertificateChoice[];
  readonly allVersions: boolean;
};

/** A key as the appliance answers it. */
type Listed = {
  readonly name: string;
  readonly cipher?: string;
  readonly keys?: Readonly<Record<string, string>>;
  readonly versions?: Readonly<
    Record<string, { readonly 'signature-algorithm'?: string; readonly 'hash-algorithm'?: HashName; readonly 'certificate-chain'?: string }>
  >;
  readonly 'latest-version'?: number;
  readonly 'default-encryption-version'?: number;
  readonly 'supports-signing'?: boolean;
};

const collection = '/v1/state/keystore/transit-keys';
const fields = 'name,cipher,keys,versions,latest-version,default-encryption-version,supports-signing';
const pageEntries = 1_000;
const shownCiphers = /^(?:rsa-|ecdsa-)/;

/**
 * The objects of the keys that are chosen. A key that is not there or that the token may not read is named on standard error and hides no
 * other; rejects with a CK_RV when the appliance cannot be asked.
 */
export async function readObjects(choice: Choice, source: Source): Promise<readonly ShownObject<SigningKey>[]> {
  const { names, selector, allVersions } = choice;
  const { notices } = source;
  const patterns = names.filter((name) => name.includes('*'));
  const searches = patterns.map((pattern) => ({ contains: longestPart(pattern), fits: patternOf(pattern) }));
  const parts = [
    ...names.filter((name) => !name.includes('*')).map((name) => readOne(name, source)),
    ...searches.map(async ({ contains, fits }) =>
      (await readList(contains === '' ? {} : { contains }, source)).filter(({ name }) => fits.test(name)),
    ),
    ...(names.length === 0 ? [readList({ selector }, source)] : []),
  ];
  const listed = new Map((await Promise.all(parts)).flat().map((key) => [key.name, key]));
  if (listed.size === 0)
    notices.tell(
      names.length === 0 ? `no key has the label ${selector}: give --key NAME, or label the keys that are to be shown` : 'no key is shown',
    );
  const shown = [...listed.values()].filter((key) => {
    const isShown = shownCiphers.test(key.cipher ?? '');
    if (!isShown && names.includes(key.name)) notices.tell(notShown(key));
    return isShown;
  });
  const certified = shown.map(({ name, keys = {} }) => ({ name, publicKeys: Object.values(keys).map(derOf) }));
  const chainsOf = await readChains(certified, choice.certificates, source);
  return shown.flatMap((key) => {
    const chains = chainsOf.get(key.name) ?? keptChains(key);
    return versionsOf(key, chains, allVersions, notices).flatMap((version) => objectsOf(version, chainOf(version, chains)));
  });
}

/** Chains that the appliance keeps with the versions of a key; a certificate that is given to the command goes before them. */
function keptChains({ versions = {} }: Listed): readonly Chain[] {
  return Object.values(versions)
    .map(({ 'certificate-chain': pem }) => chainIn(pem))
    .filter((chain) => chain.length > 0);
}

function notShown({ name, cipher = 'of an unknown cipher' }: Listed): string {
  return `${name} is not shown: it is ${cipher}, and only RSA and ECDSA keys pass PKCS#11 here`;
}

async function readOne(name: string, source: Source): Promise<readonly Listed[]> {
  try {
    const { body } = await source.client.ask({
      method: 'GET',
      path: `${collection}/${encodeURIComponent(name)}`,
      query: new URLSearchParams({ fields }),
    });
    return [JSON.parse(body.toString()) as Listed];
  } catch (error) {
    const refusal = refusalOf(error, source.notices, `cannot read the key ${name}`);
    if (error instanceof Refused && [403, 404].includes(error.answer.status)) return [];
    throw refusal;
  }
}

async function readList(filter: Readonly<Record<string, string>>, { client, notices }: Source): Promise<readonly Listed[]> {
  const query = new URLSearchParams({ ...filter, use: 'sign', fields, limit: String(pageEntries) });
  try {
    return await askPages(client, collection, query);
  } catch (error) {
    throw refusalOf(error, notices, 'cannot list the keys');
  }
}

/**
 * The versions that are shown: all, or one. It is the version of the certificate where a certificate of the key is given, because a program
 * uses both together, else the one that signs without a number.
 */
function versionsOf(key: Listed, chains: readonly Chain[], all: boolean, notices: Notices): readonly KeyVersion[] {
  const { name, keys = {}, versions = {}, 'latest-version': latest = 0, 'default-encryption-version': chosen = 0 } = key;
  const used = chosen === 0 ? latest : chosen;
  const everyOne = Object.entries(keys).map(([number, pem]) => {
    const { 'signature-algorithm': algorithm, 'hash-algorithm': hash } = versions[number] ?? {};
    const version = Number(number);
    const publicKey = derOf(pem);
    return {
      name,
      version,
      label: version === used ? name : `${name}:${number}`,
      publicKey,
      pssOnly: algorithm === 'pss' ? { hash } : undefined,
    };
  });
  if (everyOne.length === 0) notices.tell(`${name} is not shown: its public keys are hidden by a policy (field keys)`);
  const certified = everyOne.filter((one) => chainOf(one, chains).length > 0);
  if (chains.length > 0 && certified.length === 0)
    notices.tell(`the certificate of ${name} is not shown: it is of no version of the key that is left`);
  if (all) return everyOne;
  const shown = certified.at(-1) ?? everyOne.find(({ version }) => version === used);
  return shown === undefined ? [] : [{ ...shown, label: name }];
}

/** DER of PEM, whatever label it has. */
function derOf(pem: string): Buffer {
  return Buffer.from(pem.replaceAll(/-----[^-]*-----|\s/g, ''), 'base64');
}
