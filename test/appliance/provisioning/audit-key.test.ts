// The key that signs the heads of the audit trail is replaced when its token loses it, also while the appliance runs.
import { createPublicKey } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { auditPublicKeys, openAudit, openAuditSigner } from '../../../appliance/audit/audit-signing.ts';

import { paths } from '../../../appliance/data-directory/paths.ts';
import { chainNames } from '../../../core/audit/chains.ts';
import { openAuditTrail } from '../../../core/audit/trail.ts';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { Secret } from '../../../core/base/secret.ts';
import { systemClock } from '../../../core/base/time.ts';
import { openStore } from '../../../core/store/open.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { quiet } from '../../core/audit/trail.ts';
import { tableKinds } from '../../../appliance/table-kinds.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';
import { keyObjectLabels, removeKeyObject } from '../../harness/token/token-objects.ts';

const temporary = temporaryDirectory();

test('a key that is removed from the token while the trail is open: the next signature is by a new, published key', async () => {
  const data = temporary('data');
  mkdirSync(data);
  const token = await makeSoftToken(temporary('token'));
  const pin = readFileSync((token.pin as { file: string }).file, 'utf8');
  const before = await keyObjectLabels(token, pin);
  const hsm = await openHsm(testHsmConfig(token));
  const store = await openStore({ directory: paths.store(data), dataKey: new Secret(new Uint8Array(32)) });
  const runtime = { hsm, store, close: () => Promise.resolve() };
  await openAudit(runtime, data, 1, { clock: systemClock, log: quiet, kinds: tableKinds });
  const trail = await openAuditTrail({
    directory: paths.audit(data),
    chain: chainNames(undefined).worker(1),
    clock: systemClock,
    log: quiet,
    ...openAuditSigner(runtime, data, quiet),
  });
  await trail.signHeads();

  const made = (await keyObjectLabels(token, pin)).filter((label) => !before.includes(label));
  for (const label of made) await removeKeyObject(token, pin, 'privkey', label);
  await trail.write({ kind: 'system', occurredAt: '2026-01-01T00:00:00.000000Z', requestId: 'r', code: 'after-the-loss' });
  await trail.signHeads();
  await trail.close();

  const keys = auditPublicKeys(store);
  expect(keys).toHaveLength(2);
  expect(readFileSync(`${paths.audit(data)}/audit-keys.pem`, 'utf8')).toBe(keys.map(({ pem }) => pem).join(''));
  const verified = await verifyTrail(paths.audit(data), new Map(keys.map(({ keyId, pem }) => [keyId, createPublicKey(pem)])));
  expect(verified.findings).toEqual([]);
  const [chain] = verified.chains.filter(({ chain: name }) => name === chainNames(undefined).worker(1));
  expect(chain?.signedThrough).toBe((chain?.last ?? 0) - 1);
  await store.close();
  await hsm.close();
});
