// Additions of plugin `transit` to the appliance, loaded by processes that serve.
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { provide } from '../../core/plugin/service.ts';
import { transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { backup } from './actions/backup.ts';
import { cmac } from './actions/macs/cmac.ts';
import { decrypt } from './actions/decrypt.ts';
import { decapsulate, encapsulate } from './actions/kem/encapsulate.ts';
import { encrypt } from './actions/encrypt.ts';
import { exportKey } from './actions/export.ts';
import { generateCsr } from './actions/certificates/generate-csr.ts';
import { generateDataKey } from './actions/generate-data-key.ts';
import { hmac } from './actions/macs/hmac.ts';
import { importKey } from './actions/import.ts';
import { importWrappingKeyEndpoints } from './import-wrapping-endpoints.ts';
import { restore } from './actions/restore.ts';
import { rewrap } from './actions/rewrap.ts';
import { rotate } from './actions/rotate.ts';
import { setCertificateChain } from './actions/certificates/set-certificate-chain.ts';
import { sign } from './actions/sign.ts';
import { trim } from './actions/trim.ts';
import { verify } from './actions/verify.ts';
import { autoRotateJob } from './auto-rotate.ts';
import { check } from './check.ts';
import { custodyStatement } from './custody/statement.ts';
import { distribution } from './distribution/endpoint.ts';
import { distributionJobs } from './distribution/holdings.ts';
import { keyGauge } from './gauges.ts';
import { keyHolders } from './key-holders.ts';
import { dueDeletionsJob } from './keys/due-deletions.ts';
import { keyNotices } from './keys/notices.ts';
import { dropKeys, transitKeys } from './keys/resource.ts';
import type { Config } from './records/config.ts';
import { makeTransit } from './context.ts';
import { publicKeySet } from './publishing.ts';
import { createTransitKeys } from './transit-keys-service.ts';
import { endedImportKeysJob, ImportWrappingKeys } from './keys/import-wrapping-key.ts';

/** Keys, the actions on them, their jobs, and the service for plugins that keep something with a key version. */
export function provision(context: PluginContext<Config>): PluginInstance {
  const transit = makeTransit(context);
  const importWrappingKeys = new ImportWrappingKeys(transit);
  const inBatches = [encrypt, decrypt, rewrap, sign, verify, hmac, cmac, decapsulate];
  const actions = [generateDataKey, encapsulate, generateCsr, setCertificateChain, rotate, trim, backup, restore];
  return {
    // Read when all plugins are provisioned: attachments add fields, formats and error codes.
    get resources() {
      return [transitKeys(transit)];
    },
    get endpoints() {
      return [
        ...[...inBatches, exportKey].flatMap((action) => action(transit)),
        ...actions.map((action) => action(transit)),
        importKey(transit, importWrappingKeys),
        ...importWrappingKeyEndpoints(transit, importWrappingKeys),
        custodyStatement(transit),
        distribution(transit),
        publicKeySet(transit),
      ];
    },
    jobs: [autoRotateJob(transit), dueDeletionsJob(transit), endedImportKeysJob(transit), ...distributionJobs(transit)],
    services: [provide(transitKeysService, createTransitKeys(transit))],
    gauges: [keyGauge(transit)],
    notices: keyNotices(transit),
    start: () => transit.usage.start(),
    settle: () => transit.usage.stop(),
    stop: () => transit.usage.stop(),
    wrappedKeys: () => keyHolders(transit),
    dropTenant: (tenantId) => dropKeys(transit, tenantId),
    check: () => check(transit),
  };
}
