// Action hmac: under the companion secret of the version, for every key that has one.
import { z } from 'zod';
import { encodeBase64 } from '../../../../core/base/bytes.ts';
import type { AnyEndpoint } from '../../../../core/http/endpoint.ts';
import { readPayload } from '../../formats/payload.ts';
import { hashAlgorithmField } from '../../formats/signatures.ts';
import type { Transit } from '../../context.ts';
import { formatValue } from '../../formats/value-format.ts';
import { base64EncodedField, defineBatchAction, keyVersionField, keyVersionOutput, payloadField, valueField } from '../action.ts';

/** POST …/hmac */
export function hmac(transit: Transit): AnyEndpoint[] {
  return defineBatchAction(transit, {
    action: 'hmac',
    summary: 'Calculate an HMAC; check it with verify',
    description: 'Under a secret of its own in each version, which every kind of key has. The text is not encrypted; verify checks it.',
    fields: {
      plaintext: payloadField('What to authenticate'),
      base64Encoded: base64EncodedField,
      hashAlgorithm: hashAlgorithmField,
      keyVersion: keyVersionField,
    },
    subject: 'plaintext',
    secretInput: ['plaintext'],
    answer: z.object({ hmac: valueField('The HMAC.', 'store:hashed:v1:'), keyVersion: keyVersionOutput }),
    secretOutput: [],
    commandLine: { output: 'hmac' },
    auditFields: ['hashAlgorithm', 'keyVersion'],
    errors: ['operation-not-supported', 'version-unknown', 'version-not-allowed', 'key-disabled'],
    plan: (used, item) => {
      const octets = readPayload(item.plaintext, item.base64Encoded, 'plaintext', used.decode);
      const version = used.forEncryption(item.keyVersion);
      return {
        version,
        counts: 0,
        use: { use: 'hmac', key: used.reference(version, 'hmac'), hash: item.hashAlgorithm ?? 'sha256', octets },
        answer: (mac) => ({ hmac: formatValue('hashed', version.number, encodeBase64(mac)), keyVersion: version.number }),
      };
    },
  });
}
