// CMP with ML-DSA both ways: the key of the CA and of its registration authority in a token that offers it, and messages that such a certificate has signed.
import { createPrivateKey, sign, type X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { objectIdentifier, sequence } from '../../../core/der/der.ts';
import { partsOf, send } from '../../harness/cmp/device.ts';
import { bodies, byMac, general, implicitConfirm, type Protect } from '../../harness/cmp/messages.ts';
import { makeNssToken, obtainNss } from '../../harness/token/nss.ts';
import { makeSoftToken } from '../../harness/token/softhsm.ts';
import { makeDeviceCsr, makeKeys } from '../ca/pki.ts';
import { cmpSecret, openCmp, startCmpAppliance } from './cmp-appliance.ts';

const nss = await obtainNss();
const mlDsa65 = '2.16.840.1.101.3.4.3.18';

describe.skipIf('missing' in nss)(`with NSS softoken${'missing' in nss ? ` (${nss.missing})` : ''}`, () => {
  test('a device enrols with a key for ML-DSA at a CA with one, and renews under its signature; the answer is signed with ML-DSA', async () => {
    const appliance = await startCmpAppliance({
      async tokens(directory) {
        if ('missing' in nss) throw new Error(nss.missing);
        return [await makeSoftToken(directory), await makeNssToken(nss, directory)];
      },
    });
    const ca = await appliance.makeCa({ ...openCmp, 'cert-key-type': 'ml-dsa-65' });
    const url = appliance.cmpUrl(ca);
    const keys = await makeKeys('ML-DSA-65');
    const first = await send(
      url,
      {
        ...{ type: bodies.p10cr, body: await makeDeviceCsr(keys, 'dev.example.test'), info: [implicitConfirm] },
        protect: byMac(cmpSecret),
      },
      cmpSecret,
    );
    expect([first.reason, first.certificate?.publicKey.asymmetricKeyType]).toEqual([undefined, 'ml-dsa-65']);
    const { der, subject, keyId } = partsOf(first.certificate as X509Certificate);
    const protect: Protect = {
      ...{ algorithm: sequence(objectIdentifier(mlDsa65)), sender: general(subject), keyId, certificates: [der] },
      sign: (octets) => sign(null, octets, createPrivateKey(keys.pem)),
    };
    const body = await makeDeviceCsr(await makeKeys('ML-DSA-65'), 'dev.example.test');
    const renewed = await send(url, { type: bodies.p10cr, body, info: [implicitConfirm], protect });
    expect(renewed).toMatchObject({ status: 0, protectedBy: 'signature' });
    expect((await appliance.state(ca)).cmp['registration-not-after']).toEqual(expect.any(String));
  });
});
