// OpenPGP: transit keys as keys of gpg, Sequoia and package managers. Private keys stay in the token; blocks are made once per version.
import { z } from 'zod';
import { definePlugin } from '../../core/plugin/plugin.ts';
import { transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { exportOpenpgpPublic } from './actions/export-openpgp-public.ts';
import { exportOpenpgpRevocation } from './actions/export-openpgp-revocation.ts';
import { importOpenpgp } from './actions/import-openpgp.ts';
import { openpgpSign } from './actions/openpgp-sign.ts';
import { openpgpVerify } from './actions/openpgp-verify.ts';
import type { Parts } from './actions/request.ts';
import type { OpenpgpFields, OpenpgpRecord } from './records.ts';
import { checkRecords } from './check.ts';
import { openpgpAttachment } from './attachment.ts';
import { openpgpErrors } from './errors.ts';

/** Needs the transit plugin, which stores its records. */
export default definePlugin({
  name: 'openpgp',
  contract: 1,
  config: z.strictObject({}).prefault({}),
  errors: openpgpErrors,
  uses: [transitKeysService],
  provision(context) {
    const { hsm, clock } = context;
    const transitKeys = context
      .service(transitKeysService)
      .attach<OpenpgpFields, OpenpgpRecord>((keys) => openpgpAttachment(hsm, clock, keys));
    const parts: Parts = { hsm, transitKeys };
    return {
      endpoints: [openpgpSign, openpgpVerify, exportOpenpgpPublic, exportOpenpgpRevocation, importOpenpgp].map((endpoint) =>
        endpoint(parts),
      ),
      check: () => checkRecords(transitKeys),
    };
  },
});
