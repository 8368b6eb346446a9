// rr: the holder of a certificate revokes it, or a registration authority does for the device.
import type { HeldCertificate, RevocationReason } from '../../../core/plugin/services/certificate-authority.ts';
import { isSameName } from '../../../core/der/name.ts';
import type { CmpCall, CmpContext } from '../context.ts';
import { bodyType, readRevocation } from '../message/body.ts';
import { readCertificate } from '../message/certificate.ts';
import { CmpRefusal, reading } from '../message/refusal.ts';
import { encodeRevoked } from '../message/write.ts';
import { requireHolder } from './enrol.ts';
import type { Granted, Proven } from './exchange.ts';

/** Reasons that devices give (RFC 5280 section 5.3.1). */
const reasons: ReadonlyMap<number, RevocationReason> = new Map<number, RevocationReason>([
  [0, 'unspecified'],
  [1, 'key-compromise'],
  [3, 'affiliation-changed'],
  [4, 'superseded'],
  [5, 'cessation-of-operation'],
  [9, 'privilege-withdrawn'],
]);

/** A certificate of a device: a registration authority has no say about others, as those of CAs. */
function findDevices({ ca }: CmpCall, serial: string): HeldCertificate | undefined {
  const found = ca.findBySerial(serial);
  return found?.problem === 'not-for-clients' ? undefined : found;
}

export async function revoke(_context: CmpContext, call: CmpCall, proven: Proven): Promise<Granted> {
  const { issuer, serial, reason: number } = readRevocation(proven.message.body);
  const { sender } = proven;
  if (sender.kind !== 'authority') requireHolder(proven);
  const revoked = sender.kind === 'held' ? sender.held : findDevices(call, serial);
  const own = revoked && readCertificate(revoked.certificate);
  if (own?.serial !== serial || !reading('the issuer', () => isSameName(own.issuer, issuer)))
    throw new CmpRefusal(
      'badCertId',
      sender.kind === 'held'
        ? 'the template does not name the certificate that signs the message, which alone can be revoked'
        : 'the template does not name the certificate of a device that this CA has issued',
    );
  const reason = reasons.get(number);
  if (reason === undefined)
    throw new CmpRefusal('badRequest', 'the reason is not one with which a device revokes its certificate for good');
  call.note({ serial, reason });
  if (!(await call.ca.revoke(serial, reason))) throw new CmpRefusal('certRevoked', 'the certificate is revoked already');
  return { type: bodyType.rp, body: encodeRevoked() };
}
