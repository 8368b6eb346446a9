// Checks every invariant of a stopped appliance: node appliance/check.ts --data DIR. Prints the broken ones; exit code 1 when there
// are any. Notes, which break nothing, go to standard error.
import type { CheckFinding } from '../core/base/context.ts';
import { terminalLog } from '../core/log/terminal.ts';
import { provide } from '../core/plugin/service.ts';
import { appliancesService } from '../core/plugin/services/appliances.ts';
import { listenersService } from '../core/plugin/services/listeners.ts';
import { StartError } from '../core/plugin/registry.ts';
import { systemClock } from '../core/base/time.ts';
import { compose } from './composition/compose.ts';
import { loadConfiguration } from './configuration.ts';
import { holdDataDirectory } from './data-directory/data-directory.ts';
import { hsmConfigOf } from './tokens/hsm-config.ts';
import { openRuntime } from './runtime.ts';
import { plugins } from './plugins.ts';
import { closedAudit, closedListeners, noAppliances } from './provisioning/without-serving.ts';
import { StartRefused } from './start-refused.ts';

try {
  const findings = await checkAppliance(process.argv.slice(2));
  for (const { where, problem, isNote } of findings) {
    if (isNote === true) console.error(`note: ${where}: ${problem}`);
    else console.log(`${where}: ${problem}`);
  }
  const broken = findings.filter(({ isNote }) => isNote !== true).length;
  console.log(broken === 0 ? 'every invariant holds' : `${broken} broken`);
  process.exitCode = broken === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof StartRefused) && !(error instanceof StartError)) throw error;
  console.error(`keystored: ${error.message}`);
  process.exitCode = 2;
}

/** Opens store and tokens as a start would, and serves nothing. Throws StartRefused, also while the appliance runs. */
async function checkAppliance(args: readonly string[]): Promise<readonly CheckFinding[]> {
  const configuration = loadConfiguration(args);
  await holdDataDirectory(configuration.data, configuration.sources['data']);
  const runtime = await openRuntime(configuration, await hsmConfigOf(configuration, () => undefined), terminalLog);
  try {
    const composed = await compose({
      plugins,
      ...runtime,
      audit: closedAudit,
      log: terminalLog,
      clock: systemClock,
      configurationOf: (plugin) => configuration.plugins[plugin],
      services: [provide(listenersService, closedListeners(configuration)), provide(appliancesService, noAppliances)],
    });
    try {
      return await composed.check();
    } finally {
      await composed.stop();
    }
  } finally {
    await runtime.close();
  }
}
