// Changed messages of CMP at a running appliance: octets of protected messages, and parts of them that are changed before the protection is made. Each gets an
// answer that is protected, or one of HTTP; what is issued is within the rules of the CA, for what was asked, and on record.
import type { X509Certificate } from 'node:crypto';
import { sequence } from '../../core/der/der.ts';
import { makeAuthority } from '../harness/cmp/authority.ts';
import { type CmpReply, holding, partsOf, post, send } from '../harness/cmp/device.ts';
import {
  bodies,
  byMac,
  confirmationOf,
  implicitConfirm,
  type MessageParts,
  nameOf,
  newKeys,
  oldCertificate,
  pollOf,
  type Protect,
  raVerified,
  requestOf,
  revocationOf,
  writeMessage,
} from '../harness/cmp/messages.ts';
import { type CmpAppliance, cmpSecret, openCmp } from '../plugins/cmp/cmp-appliance.ts';
import { Dice } from './cases.ts';
import { drawInput } from './parsers/mutations.ts';

/** Answers by what they are, and certificates that were issued. */
export type CmpDrill = { readonly answers: Readonly<Record<string, number>>; readonly issued: number };

/** Messages between two steps of the clock: refused ones are limited by address and by sender. */
const beforeStep = 40;

/** Sends so many. Rejects with the find and its message. */
export async function drillCmp(appliance: CmpAppliance, cases: number, seed: number): Promise<CmpDrill> {
  const authority = makeAuthority();
  const ca = await appliance.makeCa({ ...openCmp, cmp: { ...openCmp.cmp, 'ra-certs': [authority.pem] } });
  const url = appliance.cmpUrl(ca);
  const makers = await makeMakers(url, authority.protect);
  const answers: Record<string, number> = {};
  const issued = new Set<string>();
  for (let number = 0; number < cases; number++) {
    const dice = new Dice(seed ^ Math.imul(number, 0x9e37_79b1));
    const message = draw(dice, dice.pick(makers));
    if (number % beforeStep === 0) appliance.clock.step(61);
    try {
      const reply = await post(url, message, cmpSecret);
      const kind = kindOf(reply);
      answers[kind] = (answers[kind] ?? 0) + 1;
      if (reply.certificate !== undefined) issued.add(requireAllowed(reply.certificate));
    } catch (error) {
      throw new Error(`case ${number} of seed ${seed}: ${message.toString('base64')}`, { cause: error });
    }
  }
  await requireOnRecord(appliance, ca, issued);
  return { answers, issued: issued.size };
}

/** Makes the parts of a sound message, with other keys and nonces each time where they count. */
type Maker = () => MessageParts;

async function makeMakers(url: string, authority: Protect): Promise<readonly Maker[]> {
  const mac = byMac(cmpSecret, { iterations: 100 });
  const keys = newKeys();
  const request = (more: Partial<Parameters<typeof requestOf>[0]> = {}): Uint8Array => sequence(requestOf({ keys: newKeys(), ...more }));
  const held = (await send(url, { type: bodies.ir, body: request({ keys }), protect: mac, info: [implicitConfirm] }, cmpSecret))
    .certificate;
  if (held === undefined) throw new Error('no certificate to begin with');
  const { issuer, serial } = partsOf(held);
  const own = holding(keys, held);
  const inner = (): Buffer => writeMessage({ type: bodies.ir, body: request(), protect: mac });
  return [
    () => ({ type: bodies.ir, body: request(), protect: mac, info: [implicitConfirm] }),
    () => ({ type: bodies.ir, body: request(), protect: mac }),
    () => ({ type: bodies.cr, body: request(), protect: own }),
    () => ({ type: bodies.kur, body: request({ controls: [oldCertificate(issuer, serial)] }), protect: own, info: [implicitConfirm] }),
    () => ({ type: bodies.ir, body: request({ proof: raVerified }), protect: authority }),
    () => ({ type: bodies.certConf, body: confirmationOf(held.raw), protect: mac, recipientNonce: Buffer.alloc(16, 1) }),
    () => ({ type: bodies.pollReq, body: pollOf(), protect: mac, recipientNonce: Buffer.alloc(16, 1) }),
    // A serial number that is none: the certificate that signs stays.
    () => ({ type: bodies.rr, body: revocationOf(issuer, Buffer.alloc(8, 1), 4), protect: own }),
    () => ({ type: bodies.genm, body: sequence(implicitConfirm), protect: mac }),
    () => ({ type: bodies.nested, body: sequence(inner(), inner()), protect: authority }),
    () => ({ type: bodies.error, body: nameOf('x'), protect: mac }),
  ];
}

/** Octets of the whole message, or of a part before it is protected. */
function draw(dice: Dice, make: Maker): Buffer {
  const parts = make();
  const changed = (sample: Uint8Array): Buffer => drawInput(dice, { samples: [Buffer.from(sample)], words: [] });
  if (dice.chance(0.3)) return changed(writeMessage(parts));
  if (dice.chance(0.5)) return writeMessage({ ...parts, body: changed(parts.body) });
  const { protect } = parts;
  const fields: readonly (() => Partial<MessageParts>)[] = [
    () => ({ sender: changed(protect.sender) }),
    () => ({ algorithm: changed(protect.algorithm) }),
    () => ({ keyId: changed(protect.keyId ?? Buffer.of(1)) }),
    () => ({ transactionId: changed(Buffer.alloc(16, dice.below(256))) }),
    () => ({ senderNonce: changed(Buffer.alloc(16, dice.below(256))) }),
    () => ({ info: [changed(implicitConfirm)] }),
    () => ({ certificates: protect.certificates.map(changed) }),
    () => ({ version: dice.below(5) }),
    () => ({ type: dice.below(30) }),
  ];
  return writeMessage({ ...parts, ...dice.pick(fields)() });
}

/** HTTP by its status, or the kind of message. Throws for what no message may be answered with. */
function kindOf({ http, type, protectedBy, failInfo, certificate, status }: CmpReply): string {
  if (http !== 200) {
    if (![413, 429].includes(http)) throw new Error(`answered ${http}`);
    return `HTTP ${http}`;
  }
  // Octets that are not a message get an answer that costs nothing.
  if (protectedBy === undefined && (type !== bodies.error || failInfo !== 'badDataFormat')) throw new Error('an answer without protection');
  if (certificate === undefined && status === 0 && type !== bodies.rp) throw new Error('accepted without a certificate');
  return `body ${type} ${failInfo ?? ''}`.trim();
}

/** Returns the serial number of a certificate whose names are those that the CA allows. */
function requireAllowed({ subjectAltName, subject, serialNumber }: X509Certificate): string {
  const names = [...(subjectAltName ?? '').split(', ').filter(Boolean), ...subject.split('\n').filter((line) => line.startsWith('CN='))];
  const outside = names.find((name) => !/^(?:DNS:|CN=)(?:[^\s,]+\.)?example\.test$/i.test(name));
  if (outside !== undefined || names.length === 0) throw new Error(`issued for ${outside ?? 'nobody'}`);
  return serialNumber.toLowerCase();
}

async function requireOnRecord(appliance: CmpAppliance, ca: string, issued: ReadonlySet<string>): Promise<void> {
  const known = new Set<string>();
  for (let after = ''; ;) {
    const query = `limit=1000${after === '' ? '' : `&after=${after}`}`;
    const page = (await appliance.list(ca, `certificates?${query}`)) as readonly { readonly serial: string }[];
    for (const { serial } of page) known.add(serial);
    if (page.length < 1_000) break;
    after = page.at(-1)?.serial ?? '';
  }
  const lost = [...issued].find((serial) => !known.has(serial));
  if (lost !== undefined) throw new Error(`certificate ${lost} is not on record`);
}
