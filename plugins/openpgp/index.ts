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
import { checkRecords } from './check.ts';
import { openpgpHooks } from './lifecycle.ts';

/** Needs the transit plugin, which stores its records. */
export default definePlugin({
  name: 'openpgp',
  contract: 1,
  config: z.strictObject({}).prefault({}),
  uses: [transitKeysService],
  provision(context) {
    const { hsm, clock } = context;
    const transitKeys = context.service(transitKeysService);
    transitKeys.attachOpenpgp(openpgpHooks(hsm, clock, transitKeys));
    const parts: Parts = { hsm, transitKeys };
    return {
      endpoints: [openpgpSign, openpgpVerify, exportOpenpgpPublic, exportOpenpgpRevocation, importOpenpgp].map((endpoint) =>
        endpoint(parts),
      ),
      check: () => checkRecords(transitKeys),
    };
  },
});
