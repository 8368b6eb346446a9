// Additions of plugin `openpgp` to the appliance, loaded by processes that serve.
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { exportOpenpgpPublic } from './actions/export-openpgp-public.ts';
import { exportOpenpgpRevocation } from './actions/export-openpgp-revocation.ts';
import { importOpenpgp } from './actions/import-openpgp.ts';
import { openpgpSign } from './actions/openpgp-sign.ts';
import { openpgpSignDigest, openpgpTrailer } from './actions/openpgp-sign-digest.ts';
import { openpgpVerify } from './actions/openpgp-verify.ts';
import { unbindSubkey } from './actions/unbind-subkey.ts';
import type { Parts } from './actions/request.ts';
import type { OpenpgpFields, OpenpgpRecord } from './records.ts';
import { checkRecords } from './check.ts';
import { publishedEndpoints } from './published/endpoints.ts';
import { openpgpAttachment } from './attachment.ts';

/** The actions on keys of transit, and what the plugin keeps with their versions. */
export function provision(context: PluginContext<unknown>): PluginInstance {
  const { hsm, clock } = context;
  const transitKeys = context
    .service(transitKeysService)
    .attach<OpenpgpFields, OpenpgpRecord>((keys) => openpgpAttachment(hsm, clock, keys));
  const parts: Parts = { hsm, transitKeys };
  return {
    endpoints: [
      ...publishedEndpoints(transitKeys),
      ...[
        openpgpSign,
        openpgpTrailer,
        openpgpSignDigest,
        openpgpVerify,
        exportOpenpgpPublic,
        exportOpenpgpRevocation,
        unbindSubkey,
        importOpenpgp,
      ].map((endpoint) => endpoint(parts)),
    ],
    check: () => checkRecords(transitKeys),
  };
}
