// Custodians are worth nothing beside a file with the PIN, or with the SO PIN, by which anybody sets another PIN.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '../../core/config/config.ts';
import { StartRefused } from '../start-refused.ts';
import { hasCustodians } from './ceremony.ts';

/** Files of the configuration and of the data directory that have a PIN. */
export function pinFilesOf({ data, hsm }: Pick<Configuration, 'data' | 'hsm'>): readonly string[] {
  const ofTokens = hsm.tokens.flatMap(({ pin }) => ('file' in pin ? [pin.file] : []));
  return [...['pin', 'pin.new', 'so-pin', 'so-pin.new'].map((name) => join(data, name)), ...ofTokens].filter((file) => existsSync(file));
}

/**
 * Throws StartRefused where a start needs the PIN itself: custodians give it to an appliance that listens, for which the first start after a restore
 * has not made anything yet.
 */
export function requireNoCustodians(data: string): void {
  if (!hasCustodians(data)) return;
  throw new StartRefused(
    `this start of ${data}, the first one after a restore, needs the PIN itself, which custodians have: have enough of them end the custody (keystorectl custodians end), give the new PIN to this start alone (in ${join(data, 'pin')} for the embedded token), and give shares of another PIN then (keystorectl custodians make)`,
  );
}

/** Throws StartRefused for an appliance with custodians that starts without them, or has a PIN in a file. */
export function requireCustody(configuration: Pick<Configuration, 'data' | 'hsm' | 'attended'>): void {
  const { data, attended } = configuration;
  if (!hasCustodians(data)) return;
  if (!attended)
    throw new StartRefused(
      `${data} has custodians, who give the PIN: set hsm.start to attended, or end custody with "keystorectl custodians end", which needs their shares`,
    );
  const [file] = pinFilesOf(configuration);
  if (file !== undefined)
    throw new StartRefused(
      `${file} opens the token without its custodians, or sets another PIN: put it into a safe place that is not on this machine, and remove it`,
    );
}
