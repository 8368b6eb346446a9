// An appliance with CMP on the listeners of enrolment, for tests.
import cmp from '../../../plugins/cmp/index.ts';
import { type ScepAppliance, type ScepRecord, startScepAppliance } from '../scep/scep-appliance.ts';

export type CmpAppliance = ScepAppliance & {
  /** The URL of CMP of a CA on the plain listener. */
  cmpUrl(name: string): string;
  /** Does what the appliance does each minute. */
  revokeUnconfirmed(): Promise<void>;
  /** Does what the appliance does each hour. */
  sweepTransactions(): Promise<void>;
  /** Audit records of kind `cmp`, oldest first. */
  cmpRecords(): readonly ScepRecord[];
};

export const cmpSecret = 'first:enrolment secret';

/** Settings most tests start from: the shared secret, and names at and below example.test. */
export const openCmp = {
  cmp: { enabled: true, 'initial-enroll-secret': cmpSecret },
  est: { 'allowed-domains': ['example.test'], 'allow-subdomains': true, 'allow-bare-domains': true },
};

type Options = NonNullable<Parameters<typeof startScepAppliance>[0]>;

export async function startCmpAppliance({ plugins = [], ...more }: Options = {}): Promise<CmpAppliance> {
  const appliance = await startScepAppliance({ plugins: [cmp, ...plugins], ...more });
  return {
    ...appliance,
    makeCa: (fields = openCmp) => appliance.makeCa(fields),
    cmpUrl: (name) => `${appliance.plain}/cmp/${appliance.tenantId}/${name}`,
    async revokeUnconfirmed() {
      const job = appliance.jobs.find(({ name }) => name === 'cmp: revoke what was not confirmed');
      await job?.run(new AbortController().signal);
    },
    async sweepTransactions() {
      const job = appliance.jobs.find(({ name }) => name === 'cmp: drop what has ended');
      await job?.run(new AbortController().signal);
    },
    cmpRecords: () => appliance.records('cmp'),
  };
}
