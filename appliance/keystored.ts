// Entry point of the daemon: reads the configuration, makes token and data directory usable, and keeps worker processes running until it is
// stopped.
import { once } from '../core/base/async/once.ts';
import { describeOptions } from '../core/config/config.ts';
import { rmSync, writeFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { journalMark } from '../core/log/journal.ts';
import { openLog } from '../core/log/log.ts';
import { StartError } from '../core/plugin/registry.ts';
import { systemClock } from '../core/base/time.ts';
import type { Configuration } from '../core/config/config.ts';
import type { Log } from '../core/base/context.ts';
import type { HsmConfig } from '../hsm/api.ts';
import type { Orders } from './processes/messages.ts';
import './processes/at-rest.ts';
import { forgetChosenPin, takeChosenPin } from './tokens/chosen-pin.ts';
import { loadConfiguration } from './configuration.ts';
import { examineLimits } from './composition/own-limits.ts';
import { neededParts, openLink, takePart, type TakingPart } from './cluster/replication/taking-part.ts';
import { holdDataDirectory, mendDirectory } from './data-directory/data-directory.ts';
import { watchLockFile } from './data-directory/lock-file.ts';
import { SealController } from './seal/seal-controller.ts';
import { sweepCopies } from './backup/copy.ts';
import { requireRecipients } from './backup/start.ts';
import { requireNotRecovering } from './cluster/membership/recovery/recover.ts';
import { requireEmbeddedPin } from './tokens/embedded-token.ts';
import { requireUsable } from './shipping/validate.ts';
import { keepShipper, noShipper } from './processes/shipper-process.ts';
import { optionOf, pluginPorts } from './processes/plugin-ports.ts';
import { requireFreePorts } from './processes/free-ports.ts';
import { requireCustody, requireNoCustodians } from './custodians/custody.ts';
import { findHandedSockets, listenOn } from './processes/inherited-sockets.ts';
import { watchLauncher } from './processes/launcher.ts';
import { hsmConfigOf, refusingHsmErrors } from './tokens/hsm-config.ts';
import { paths } from './data-directory/paths.ts';
import { keepWatch, openNotify } from './processes/watch/notify.ts';
import { sweepDrill } from './backup/drills/upload.ts';
import { describeOrigin, finishRestore, keysOfFiles, restoreAppliance } from './backup/restore.ts';
import { hasSealedIdentity } from './tls/sealed-identity.ts';
import { requireSoundStore } from './data-directory/store-files.ts';
import { requireWhole } from './data-directory/traces.ts';
import { requireTlsKeyModules } from './tls/engine.ts';
import { refusalFor, StartRefused } from './start-refused.ts';

const args = process.argv.slice(2);
if (args.includes('--help') && !['restore-drill', 'recover-cluster', 'break-glass'].includes(args[0] ?? '')) {
  console.log(
    `${describeOptions()}\n\nOr: npm start -- restore-drill FILE …  proves that a backup restores; --help has its options\n    npm start -- recover-cluster …    makes the one survivor of a cluster stand alone; --help says what is lost\n    npm start -- break-glass …        takes the approval rules of a tenant away, with the PIN of the token`,
  );
  process.exit(0);
}

if (args[0] === 'restore-drill') {
  const { runDrillCommand } = await import('./drill/command.ts');
  process.exit(await runDrillCommand(args.slice(1)));
}

if (args[0] === 'recover-cluster') {
  const { runRecoveryCommand } = await import('./cluster/membership/recovery/command.ts');
  process.exit(await runRecoveryCommand(args.slice(1)));
}

if (args[0] === 'break-glass') {
  const { runBreakGlassCommand } = await import('./break-glass/command.ts');
  process.exit(await runBreakGlassCommand(args.slice(1)));
}

let refusalFile: string | undefined;
let data: string | undefined;

try {
  await main();
} catch (thrown) {
  const error = data === undefined ? thrown : (refusalFor(thrown, data) ?? thrown);
  if (!(error instanceof StartRefused) && !(error instanceof StartError)) throw error;
  console.error(`${journalMark('error')}keystored: ${error.message}`);
  if (refusalFile !== undefined) keepRefusal(refusalFile, error.message);
  process.exit(1);
}

function keepRefusal(file: string, reason: string): void {
  try {
    writeFileSync(file, reason);
  } catch (error) {
    console.error(`keystored: refusal-file ${file} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Ends as by a kill: writes of this appliance would mix with those of the other one. Its processes end with it. */
function leaveDirectory(directory: string): never {
  console.error(
    `${journalMark('error')}keystored: the file ${directory}/lock was removed, and another keystored has taken the directory: this one ends at once`,
  );
  process.exit(1);
}

/** Prints a step that takes a moment. */
function step(text: string): void {
  console.error(`keystored: ${text} …`);
}

/** Long because it is the order of a start, which is read as a whole. */
async function main(): Promise<void> {
  let isStopping = false;
  /** Set once there are workers; steps before that are finished first. */
  let stopWorkers: (() => void) | undefined;
  const stop = (): void => {
    // A terminal sends the signal to the whole group, and the launcher forwards it again.
    if (isStopping) return;
    isStopping = true;
    stopWorkers?.();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  watchLauncher(stop);

  const configuration = listenOn(loadConfiguration(args), findHandedSockets());
  ({ refusalFile, data } = configuration);
  const limits = examineLimits(configuration);
  await requireRecipients(configuration);
  await holdDataDirectory(configuration.data, configuration.sources['data']);
  await requireFreePorts([
    [configuration.sources['listen'] ?? '', configuration.listen],
    [configuration.sources['est-listen'] ?? '', configuration.estListen],
    ...Object.entries(pluginPorts(configuration)).map(([name, address]) => [optionOf(name), address] as const),
    ...(configuration.certificateListen === undefined
      ? []
      : [[configuration.sources['certificate-listen'] ?? '', configuration.certificateListen] as const]),
  ]);
  requireNotRecovering(configuration.data);
  requireCustody(configuration);
  requireUsable(configuration.shipping.destinations);
  requireTlsKeyModules(configuration);
  // The directory is examined before anything is written there: logs alone are a trace of an appliance, too.
  const looked = Promise.withResolvers<void>();
  const log = openLog({
    begins: looked.promise,
    directory: paths.logs(configuration.data),
    stream: 'supervisor',
    level: configuration.logLevel,
    clock: systemClock,
    ...configuration.logs,
  });
  for (const warning of limits) log.warn(warning);
  watchLockFile(configuration.data, log, () => leaveDirectory(configuration.data));
  const cluster = takePart(configuration, log, () => prepareToken(configuration));
  const prepared = prepare(configuration, log, cluster, looked.resolve);
  const shipper = configuration.shipping.destinations.length === 0 ? noShipper : keepShipper(args);
  const workers = new SealController(
    {
      configuration,
      args,
      clock: systemClock,
      log,
      shipper,
      takePart: () => cluster.start(),
      restartServer: () => cluster.restartServer(),
      giveUp,
    },
    prepared,
  );
  let isEnding = false;
  /** Ends the process because it cannot continue; the next start can. */
  async function giveUp(reason: unknown): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    console.error(`${journalMark('error')}keystored: ${(reason as Error).message}`);
    await Promise.all([workers.stop(), shipper.stop()]);
    await cluster.stop();
    process.exit(1);
  }
  let endWatch = (): void => undefined;
  /** The announcement of a first start, on standard output, once. */
  const announced = once(async () => {
    const [own, ofWorker] = await Promise.all([prepared.catch(() => undefined), workers.provisioned]);
    const text = own?.announcement ?? ofWorker;
    if (text !== undefined) console.log(text);
  });
  const stopAll = async (): Promise<void> => {
    endWatch();
    // A first start that has begun to make keys and credentials finishes that, and says where they are.
    await announced();
    isEnding = true;
    await workers.stop();
    // The shipper is stopped after them: it sends their last records.
    await Promise.all([shipper.stop(), cluster.stop()]);
    process.exit(0);
  };
  stopWorkers = () => void stopAll();
  if (isStopping) stopWorkers();
  try {
    await workers.ready;
  } catch (error) {
    if (isEnding) return;
    await cluster.stop();
    throw error;
  }
  shipper.start();
  if (refusalFile !== undefined) rmSync(refusalFile, { force: true });
  await announced();
  const { host, port } = configuration.listen;
  console.log(`ready https://${host.includes(':') ? `[${host}]` : host}:${port}`);
  if (configuration.attended) console.log('sealed: waiting for the PIN');
  const notify = await openNotify();
  if (notify !== undefined) endWatch = await keepWatch(notify, workers.examine);
  flushCompileCache();
}

/** Finishes an interrupted restore, or else runs the requested one. */
async function fillDataDirectory({ data, restore, hsm, ...given }: Configuration): Promise<void> {
  const wasCut = finishRestore(data);
  if (wasCut) step('finished an interrupted restore');
  sweepCopies(data);
  sweepDrill(data);
  if (restore === undefined || wasCut) return;
  step(`restoring ${restore}`);
  const tokens = hsm.tokens.map(({ name, group }) => group ?? name);
  const { origin, madeAt } = await restoreAppliance({
    ...{ directory: data, file: restore, tokens },
    ...keysOfFiles({
      passphraseFile: given.restorePassphraseFile,
      identityFile: given.restoreIdentityFile,
      auditKeysFile: given.restoreAuditKeys,
    }),
  });
  console.error(`keystored: restored the backup${madeAt === undefined ? '' : ` of ${madeAt}`}; ${describeOrigin(origin)}`);
}

/**
 * Makes the token and the data directory usable, and returns the orders of the workers. Worker 1 provisions, because it has loaded
 * everything for that; but a process that has held keys cannot wait for the PIN, so the first start of an attended appliance is provisioned
 * here.
 */
async function prepare(
  configuration: Configuration,
  log: Log,
  cluster: TakingPart,
  onLooked: () => void,
): Promise<Orders & { readonly announcement?: string | undefined }> {
  const { data, attended } = configuration;
  await fillDataDirectory(configuration);
  requireCustody(configuration);
  requireWhole(data, neededParts(configuration));
  for (const warning of mendDirectory(data)) log.warn(warning);
  onLooked();
  await requireSoundStore(data, configuration.cluster !== undefined);
  await cluster.start();
  const waits = attended && hasSealedIdentity(data);
  if (!waits) requireNoCustodians(data);
  const hsmConfig = waits ? undefined : await prepareToken(configuration);
  let announcement: string | undefined;
  if (attended && hsmConfig !== undefined) {
    const { provisionAppliance } = await import('./provisioning/first-boot.ts');
    const provisioned = await provisionAppliance(configuration, hsmConfig, {
      clock: systemClock,
      log,
      cluster: openLink(configuration, 0),
    });
    await provisioned.runtime.close();
    ({ announcement } = provisioned);
  }
  forgetChosenPin(data, attended);
  return { sealed: attended, provisions: !attended, announcement };
}

/** The embedded token, made on the first start, with the PIN that the configuration gives. */
async function prepareToken(configuration: Configuration): Promise<HsmConfig> {
  const hsmConfig = await refusingHsmErrors(() => hsmConfigOf(configuration, step), configuration);
  const { data, attended, embeddedPin } = configuration;
  const [token] = hsmConfig.tokens;
  if (embeddedPin !== undefined && token !== undefined)
    await refusingHsmErrors(() => takeChosenPin(data, token, embeddedPin, attended), configuration);
  if (configuration.hsm.tokens.length === 0) requireEmbeddedPin(data);
  return hsmConfig;
}
