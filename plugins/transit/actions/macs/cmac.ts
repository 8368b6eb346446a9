// Action cmac: AES-CMAC (RFC 4493) under a key that does nothing else.
import { z } from 'zod';
import { encodeBase64 } from '../../../../core/base/bytes.ts';
import type { AnyEndpoint } from '../../../../core/http/endpoint.ts';
import { cipherOf } from '../../ciphers.ts';
import type { Transit } from '../../context.ts';
import { fail } from '../../errors.ts';
import { readPayload } from '../../formats/payload.ts';
import { formatValue } from '../../formats/value-format.ts';
import { base64EncodedField, defineBatchAction, keyVersionField, keyVersionOutput, payloadField, valueField } from '../action.ts';

/** POST …/cmac */
export function cmac(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'cmac',
    summary: 'Calculate an AES-CMAC; check it with verify',
    description:
      'Of keys with cipher aes128-cmac or aes256-cmac (RFC 4493): 16 octets, as payment systems, vehicles and smart cards use it. The text is not encrypted.',
    fields: { plaintext: payloadField('What to authenticate'), base64Encoded: base64EncodedField, keyVersion: keyVersionField },
    subject: 'plaintext',
    secretInput: ['plaintext'],
    answer: z.object({ cmac: valueField('The CMAC.'), keyVersion: keyVersionOutput }),
    secretOutput: [],
    commandLine: { output: 'cmac' },
    auditFields: ['keyVersion'],
    errors: ['operation-not-supported', 'version-unknown', 'version-not-allowed', 'key-disabled'],
    plan: (used, item) => {
      if (cipherOf(used.key.record).kind !== 'cmac')
        throw fail('operation-not-supported', { detail: 'This key makes no CMAC: its cipher is not aes128-cmac or aes256-cmac.' });
      const message = readPayload(item.plaintext, item.base64Encoded, 'plaintext', used.decode);
      const version = used.forEncryption(item.keyVersion);
      return {
        version,
        counts: 1,
        use: { use: 'sign', key: used.reference(version, 'cmac'), scheme: { scheme: 'cmac', message } },
        answer: (mac) => ({ cmac: formatValue('value', version.number, encodeBase64(mac)), keyVersion: version.number }),
      };
    },
  });
}
