// genm: certificates and revocation lists that everybody may have (RFC 9483 section 4.3).
import { explicit, sequence, tag } from '../../../core/der/der.ts';
import type { CmpCall, CmpContext } from '../context.ts';
import { readInformation } from '../message/message.ts';
import { isRoot, readCertificate } from '../message/certificate.ts';
import { bodyType } from '../message/body.ts';
import { infoType } from '../message/oids.ts';
import { CmpRefusal, reading } from '../message/refusal.ts';
import { information } from '../message/write.ts';
import type { Granted, Proven } from './exchange.ts';

type Row = {
  readonly asked: string;
  readonly answered: string;
  /** undefined: there is nothing to say */
  find(call: CmpCall, value: Uint8Array | undefined): Uint8Array | undefined | Promise<Uint8Array | undefined>;
};

const rows: readonly Row[] = [
  { asked: infoType.caCerts, answered: infoType.caCerts, find: ({ ca }) => sequence(...ca.trustedCertificates()) },
  { asked: infoType.rootCaCert, answered: infoType.rootCaKeyUpdate, find: findRootUpdate },
  { asked: infoType.certReqTemplate, answered: infoType.certReqTemplate, find: () => undefined },
  { asked: infoType.currentCrl, answered: infoType.currentCrl, find: ({ ca }) => ca.revocationList() },
  { asked: infoType.crlStatusList, answered: infoType.crls, find: findList },
];

/** Without a question the answer is what every device needs. */
const unasked = new Map<string, undefined>([[infoType.caCerts, undefined]]);

export async function answerGeneral(_context: CmpContext, call: CmpCall, { message }: Proven): Promise<Granted> {
  const asked = reading('the body', () => readInformation(message.body));
  call.ca.countRepeated(call.clientIp);
  const answers: Uint8Array[] = [];
  for (const [type, value] of asked.size === 0 ? unasked : asked) {
    const row = rows.find((one) => one.asked === type);
    // RFC 9810 section 5.3.19: what is not known is left out of the answer.
    if (row !== undefined) answers.push(information(row.answered, await row.find(call, value)));
  }
  if (answers.length === 0)
    throw new CmpRefusal('badRequest', 'nothing of what is asked for is known: ask for caCerts, rootCaCert, crlStatusList or currentCRL');
  return { type: bodyType.genp, body: sequence(...answers) };
}

/**
 * RootCaKeyUpdateValue: the root that has followed the given one, with the link certificates that are valid; undefined if none has. Without one given, the newest
 * root.
 */
function findRootUpdate({ ca }: CmpCall, old: Uint8Array | undefined): Uint8Array | undefined {
  const trusted = ca.trustedCertificates();
  const newest = trusted.find((der) => isRoot(readCertificate(der)));
  if (old === undefined) return newest && sequence(newest);
  const given = reading('the certificate of rootCaCert', () => readCertificate(old));
  if (newest === undefined || Buffer.compare(newest, old) === 0) return undefined;
  if (!trusted.some((der) => Buffer.compare(der, old) === 0)) return undefined;
  const keyOf = (der: Uint8Array): string => Buffer.from(readCertificate(der).keyId ?? []).toString('hex');
  const links = trusted.filter((der) => Buffer.compare(der, newest) !== 0 && Buffer.compare(der, old) !== 0);
  const newWithOld = links.find((der) => keyOf(der) === keyOf(newest));
  const oldWithNew = links.find((der) => keyOf(der) === keyOf(given.der));
  return sequence(
    newest,
    ...(newWithOld === undefined ? [] : [explicit(0, newWithOld)]),
    ...(oldWithNew === undefined ? [] : [explicit(1, oldWithNew)]),
  );
}

/** The list of the CA, which has every revocation, whatever source is named. */
async function findList({ ca }: CmpCall, value: Uint8Array | undefined): Promise<Uint8Array> {
  if (value?.[0] !== tag.sequence) throw new CmpRefusal('badRequest', 'crlStatusList has no source of a list');
  return sequence(await ca.revocationList());
}
