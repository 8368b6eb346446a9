// keystored break-glass: takes the approval rules of one tenant away when the people who could are gone. The daemon is stopped, and the PIN
// of the token that wraps the key of the store is proven.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { openTenants } from '../../core/access/tenants.ts';
import { Secret } from '../../core/base/secret.ts';
import { formatTimestamp, systemClock } from '../../core/base/time.ts';
import { ConfigurationError } from '../../core/config/config.ts';
import { terminalLog } from '../../core/log/terminal.ts';
import { StartError } from '../../core/plugin/registry.ts';
import type { HsmConfig } from '../../hsm/api.ts';
import { loadConfiguration } from '../configuration.ts';
import { requireNotRecovering } from '../cluster/membership/recovery/recover.ts';
import { holdDataDirectory } from '../data-directory/data-directory.ts';
import { findStoreToken } from '../data-directory/store-key.ts';
import { openRuntime } from '../runtime.ts';
import { isPinRefused, StartRefused, wrongPin } from '../start-refused.ts';
import { openByShares, wordsOfAct } from '../custodians/agreed.ts';
import { hasCustodians, isInForce } from '../custodians/ceremony.ts';
import { type GivenPins, hsmConfigOf, withPins } from '../tokens/hsm-config.ts';
import { rulesOf, writeMark } from './mark.ts';

const usage = `Usage: keystored break-glass --tenant NAME --reason TEXT [--config FILE] [--data DIR] [--pin-file FILE | --share FILE…] --yes

Takes ALL approval rules of a tenant away, for when too few of the people who approve are left. Stop the appliance first.
It asks for the PIN of the token. The next start applies it, in a cluster with the majority of the others, and puts it on
record: in the audit trail with the reason and as an alert, and in health for 30 days. Open requests stay as they are.

  --tenant NAME    whose rules
  --reason TEXT    why, 8 to 512 characters, for the audit trail
  --config FILE    the configuration of the appliance
  --data DIR       its data directory, where the configuration does not say it
  --pin-file FILE  the PIN; without it, it is asked for at the terminal
  --share FILE     of each custodian: the share, and in the line below the six words that are shown without it
  --yes            do it; without it, only says what would be done

Exit code: 0 the next start does it, 1 nothing was done.`;

const options = {
  tenant: { type: 'string' },
  reason: { type: 'string' },
  config: { type: 'string' },
  data: { type: 'string' },
  'pin-file': { type: 'string' },
  share: { type: 'string', multiple: true },
  yes: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Runs the command with the words after its name; resolves with the exit code. */
export async function runBreakGlassCommand(words: readonly string[]): Promise<number> {
  try {
    const { values } = parseArgs({ args: [...words], options });
    if (values.help === true) {
      console.log(usage);
      return 0;
    }
    const { tenant, reason = '' } = values;
    if (tenant === undefined || !/^[^\p{C}]{8,512}$/u.test(reason)) {
      console.error(usage);
      return 1;
    }
    return await breakGlass({ ...values, tenant, reason });
  } catch (error) {
    const isExpected = [StartRefused, StartError, ConfigurationError].some((kind) => error instanceof kind) || 'code' in (error as object);
    if (!isExpected) throw error;
    console.error(`keystored: ${(error as Error).message}`);
    return 1;
  }
}

type Values = Partial<Record<'config' | 'data' | 'pin-file', string>> & {
  readonly share?: readonly string[];
  readonly tenant: string;
  readonly reason: string;
  readonly yes?: boolean;
};

async function breakGlass({ tenant: name, reason, yes, ...values }: Values): Promise<number> {
  const given = (['config', 'data'] as const).flatMap((option) => (values[option] === undefined ? [] : [`--${option}`, values[option]]));
  const configuration = loadConfiguration(given);
  const { data } = configuration;
  await holdDataDirectory(data, configuration.sources['data']);
  requireNotRecovering(data);
  const hsm = ofStore(await hsmConfigOf(configuration, () => undefined), data);
  const pins = await givenPins(data, hsm, values, { act: 'break-glass', tenant: name, reason });
  const runtime = await openRuntime(configuration, withPins(hsm, pins), terminalLog).catch((error: unknown) => {
    throw isPinRefused(error) ? new StartRefused(wrongPin, { cause: error.cause }) : error;
  });
  try {
    const tenant = openTenants(runtime.store).findByName(name);
    if (tenant === undefined) throw new StartRefused(`there is no tenant ${name}`);
    const rules = rulesOf(runtime.store, tenant.uuid);
    if (rules.length === 0) throw new StartRefused(`the tenant ${name} has no approval rules: nothing is to be done`);
    console.log(`The tenant ${name} has the approval rules: ${rules.map((rule) => rule.name).join(', ')}.`);
    if (yes !== true) {
      console.log('Nothing was changed. With --yes the next start takes all of them away.');
      return 1;
    }
    const madeAt = formatTimestamp(systemClock.now());
    writeMark(data, runtime.store, { id: randomUUID(), tenantId: tenant.uuid, rules, reason, madeAt });
    console.log(
      'The next start within 24 hours takes them away, as soon as it is unsealed. Make other rules then, and answer the finding.',
    );
    return 0;
  } finally {
    await runtime.close();
  }
}

/** Of custodians who have agreed to this act, from a file, or of a person at the terminal. */
async function givenPins(data: string, hsm: HsmConfig, { share, 'pin-file': file }: Partial<Values>, act: object): Promise<GivenPins> {
  if (share !== undefined) return { pins: (await openByShares(data, share, act)).pins };
  if (file !== undefined && !isInForce(data)) return { pin: new Secret(readFileSync(file, 'utf8').replace(/\r?\n$/, '')) };
  if (file === undefined && !hasCustodians(data)) return { pin: new Secret(await askPin(hsm)) };
  throw new StartRefused(
    `there are custodians: have enough of them write their share into a file, with "${wordsOfAct(act)}" in the line below, and give each as --share`,
  );
}

/** The token that wraps the key of the store: no other one is asked. Throws StartRefused. */
function ofStore(config: HsmConfig, data: string): HsmConfig {
  const name = findStoreToken(data);
  const token = config.tokens.find((one) => (one.group ?? one.name) === name);
  if (token === undefined) throw new StartRefused(`${data} has no appliance, or its configuration lacks the token ${name ?? ''}`);
  return { ...config, tokens: [token] };
}

/** Throws StartRefused without a terminal: no script shall hang here. */
async function askPin({ tokens: [token] }: HsmConfig): Promise<string> {
  if (!process.stdin.isTTY) throw new StartRefused('there is no terminal to ask for the PIN at: give --pin-file FILE');
  process.stderr.write(`PIN of token ${token?.name ?? ''}: `);
  // The PIN is not shown.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
