// Shares that custodians give for one act alone: each file has the share, and below it the six words of the act that its custodian agrees to.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { wordsOf } from '../../core/approvals/digest.ts';
import { Secret } from '../../core/base/secret.ts';
import { StartRefused } from '../start-refused.ts';
import { type Ceremony, openPins, readCeremonies, readShares, type SharedPins } from './ceremony.ts';
import { parseShare, type Share } from './share.ts';

/** The six words of an act, which everybody who gives a share compares: a share for another act does not serve this one. */
export function wordsOfAct(act: object): string {
  return wordsOf(hash('sha256', JSON.stringify(act), 'base64url'));
}

/** The ceremonies of an act. Of one that was cut off too: only the token knows which of them is in force. */
export function namesOf(ceremonies: readonly Ceremony[]): string {
  return ceremonies.map(({ ceremony }) => ceremony).join(' or ') || 'none';
}

/** The ceremony and the PINs that the shares of enough custodians open. */
type Opened = { readonly ceremony: Ceremony; readonly pins: SharedPins; readonly shares: readonly Share[] };

/** The PINs that the shares in these files open, and their ceremony, of those in the data directory. Throws StartRefused that names the wrong file. */
export function openByShares(data: string, files: readonly string[], act: object): Promise<Opened> {
  return openByAgreed(readCeremonies(data), files, act);
}

/** The same for given ceremonies. */
export async function openByAgreed(present: readonly Ceremony[], files: readonly string[], act: object): Promise<Opened> {
  const words = wordsOfAct(act);
  const texts = files.map((file) => {
    const [share = '', agreed = ''] = readFileSync(file, 'utf8').split(/\r?\n/);
    if (agreed.trim().toLowerCase().split(/\s+/).join(' ') !== words)
      throw new StartRefused(`the second line of ${file} is not "${words}": its custodian has agreed to something else, or to nothing`);
    return new Secret(share);
  });
  const names = new Set(texts.map((text) => parseShare(text)?.ceremony));
  const named = present.filter(({ ceremony }) => names.has(ceremony));
  let reason = 'there are no custodians';
  for (const ceremony of named.length > 0 ? named : present) {
    try {
      const shares = readShares(ceremony, texts);
      if (shares.length < ceremony.needed)
        throw new Error(`${shares.length} different shares were given, and the ceremony needs ${ceremony.needed}`);
      return { ceremony, pins: await openPins(ceremony, shares), shares };
    } catch (error) {
      reason = (error as Error).message;
    }
  }
  throw new StartRefused(reason);
}
