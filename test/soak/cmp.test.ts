// npm run soak -- cmp: a million changed messages of CMP at an appliance, with octets changed or with parts that are changed before they are protected.
// CMP_MESSAGES and FUZZ_SEED choose others.
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { drillCmp } from '../fuzz/cmp-messages.ts';
import { keepResult, sumOf } from '../harness/drill-result.ts';
import { startCmpAppliance } from '../plugins/cmp/cmp-appliance.ts';

const appliance = await startCmpAppliance();
/** What a run may add to the process, in which the appliance and its devices are. */
const mostGrownMib = 400;

test('changed messages of CMP: each is answered, nothing is issued beyond the rules or without a record, in bounded memory', async () => {
  const cases = Number(process.env['CMP_MESSAGES'] ?? 1_000_000);
  const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 32));
  const before = process.memoryUsage.rss();
  await keepResult(
    { name: 'cmp messages', command: `FUZZ_SEED=${seed} CMP_MESSAGES=${cases} npm run soak -- soak/cmp`, seed },
    async (figures) => {
      const { answers, issued } = await drillCmp(appliance, cases, seed);
      const grownMib = Math.round((process.memoryUsage.rss() - before) / 2 ** 20);
      Object.assign(figures, { messages: sumOf(answers), issued, 'memory grown, MiB': grownMib });
      console.log(`seed ${seed}: ${JSON.stringify({ answers, issued, grownMib })}`);
      expect(grownMib).toBeLessThan(mostGrownMib);
    },
  );
}, 14_400_000);
