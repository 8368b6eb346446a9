// At every start of the machine: takes the settings from a valid medium, or else the kept ones, and renders them.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeDurably } from '../../../../core/base/durable-files.ts';
import { findTrace } from '../../../data-directory/traces.ts';
import { readCaFingerprint } from './daemon-state.ts';
import { writeNotice } from './notices.ts';
import { renderSettings } from './render.ts';
import { defaultSettings, parseSettings, SettingsError, type Settings } from './settings.ts';
import { readVersion } from './version.ts';

/** The longest accepted settings file. */
const mostBytes = 64 * 1024;

const medium = 'run/keystored-medium';

/**
 * Reads and writes below `root`, which is `/` except in tests. Settings of the medium are kept before they are used; when they are wrong,
 * the status screen shows why and the last good settings stay. A factory reset names the fingerprint of the CA that it destroys, so a
 * medium that is left in the machine does not reset it again.
 */
export function configure(root: string): void {
  const kept = join(root, 'var/lib/keystored-os/settings.json');
  const settings = askToJoin(root, fromMedium(root, kept) ?? fromKept(root, kept) ?? defaultSettings);
  for (const [path, text] of Object.entries(renderSettings(settings))) {
    mkdirSync(dirname(join(root, path)), { recursive: true, mode: 0o755 });
    writeFileSync(join(root, path), text);
  }
  placeCredential(root, 'pin', settings.pin ?? settings.token?.pin);
  askForRestore(root, settings);
  tellWhatWasLeft(root);
  if (settings.factoryReset !== undefined && settings.factoryReset === readCaFingerprint(root))
    writeFileSync(join(root, 'run/keystored-os/factory-reset'), '');
}

function fromMedium(root: string, kept: string): Settings | undefined {
  const file = join(root, medium, 'keystored.json');
  writeNotice(root, 'settings', undefined);
  if (!existsSync(file)) return undefined;
  try {
    const content = readSmall(file);
    const settings = parseSettings(content);
    requireKnownPin(root, settings);
    requireOnMedium(root, settings);
    writeDurably(kept, whatIsKept(content, settings));
    writeNotice(root, 'settings', 'The settings of the medium KEYSTORED are in use and kept: remove the medium, it is not needed again.');
    return settings;
  } catch (error) {
    const reason = error instanceof SettingsError ? error.message : `cannot be used (${(error as NodeJS.ErrnoException).code ?? 'fault'})`;
    writeNotice(
      root,
      'settings',
      `keystored.json on the medium KEYSTORED ${reason}. The settings before stay: correct the file and restart.`,
    );
    return undefined;
  }
}

/** Nobody can read the PIN that the embedded token was made with: an attended start would wait for it forever. */
function requireKnownPin(root: string, { start, token, pin }: Settings): void {
  const data = join(root, 'var/lib/keystored');
  const isKnown = token !== undefined || pin !== undefined || (existsSync(join(data, 'softhsm')) && !existsSync(join(data, 'pin')));
  if (start === 'attended' && !isKnown) throw new SettingsError('"pin" must be given with an attended start: choose one');
}

function requireOnMedium(root: string, { restore, cluster }: Settings): void {
  const named = [restore?.file, restore?.auditKeys].map((name) => ['restore', name] as const);
  for (const [section, name] of [...named, ['cluster', cluster?.invitation] as const])
    if (name !== undefined && !existsSync(join(root, medium, name)))
      throw new SettingsError(`"${section}" names ${name}, which is not on the medium`);
}

/** A chosen PIN is passed on once, and so are a backup and an invitation. With an attended start no PIN is kept. */
function whatIsKept(content: Uint8Array, { start }: Settings): string {
  const given = JSON.parse(Buffer.from(content).toString()) as {
    pin?: string;
    restore?: unknown;
    token?: { pin?: string };
    cluster?: { invitation?: string };
  };
  delete given.cluster?.invitation;
  const { pin: _chosen, restore: _asked, ...settings } = given;
  if (start === 'attended') delete settings.token?.pin;
  return JSON.stringify(settings);
}

/** Another version may not accept the kept settings; the appliance must still start. */
function fromKept(root: string, kept: string): Settings | undefined {
  if (!existsSync(kept)) return undefined;
  try {
    return parseSettings(readSmall(kept));
  } catch (error) {
    const reason = error instanceof SettingsError ? error.message : 'cannot be read';
    writeNotice(
      root,
      'settings',
      `The settings that were kept: ${reason}. The appliance uses DHCP; give them again on a medium KEYSTORED.`,
    );
    return undefined;
  }
}

function readSmall(file: string): Uint8Array {
  const { size } = statSync(file);
  if (size > mostBytes) throw new SettingsError(`is longer than ${mostBytes} octets`);
  return readFileSync(file);
}

/** Reports a version without trials left (systemd-boot counts them in the name), unless its last trial is running. */
function tellWhatWasLeft(root: string): void {
  const directory = join(root, 'efi/EFI/Linux');
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const [left] = names.flatMap((name) => /^keystored_(.+)\+0(?:-\d+)?\.efi$/.exec(name)?.[1] ?? []);
  const text = `Version ${left} was abandoned, because it did not serve in its trials. This one serves; use another update.`;
  writeNotice(root, 'trials', left === undefined || left === readVersion(root) ? undefined : text);
}

/**
 * Passes a new appliance the backup to begin with, as variables of its unit, which drops them once there are data: the configuration would
 * name it for every start. The medium stays mounted until the daemon serves.
 */
function askForRestore(root: string, { restore }: Settings): void {
  const variables = join(root, 'run/keystored-os/restore.env');
  rmSync(variables, { force: true });
  const isUsed = findTrace(join(root, 'var/lib/keystored')) !== undefined;
  placeCredential(root, 'restore', isUsed ? undefined : (restore?.passphrase ?? restore?.identity));
  writeNotice(root, 'restore', restore === undefined ? undefined : isUsed ? alreadyUsed : restoring);
  if (restore === undefined || isUsed) return;
  const opening = restore.identity === undefined ? 'PASSPHRASE' : 'IDENTITY';
  const lines = [
    `KEYSTORED_RESTORE=/${medium}/${restore.file}`,
    `KEYSTORED_RESTORE_${opening}_FILE=/run/credentials/keystored.service/keystored.restore`,
    ...(restore.auditKeys === undefined ? [] : [`KEYSTORED_RESTORE_AUDIT_KEYS=/${medium}/${restore.auditKeys}`]),
  ];
  writeFileSync(variables, `${lines.join('\n')}\n`);
}

/** Passes a new appliance the invitation, in memory; one that has data starts without it. Answers the settings that are to be used. */
function askToJoin(root: string, settings: Settings): Settings {
  const { invitation, ...cluster } = settings.cluster ?? {};
  const isUsed = findTrace(join(root, 'var/lib/keystored')) !== undefined;
  const content = invitation === undefined || isUsed ? undefined : readSmall(join(root, medium, invitation)).toString();
  placeCredential(root, 'invitation', content);
  writeNotice(root, 'cluster', invitation !== undefined && isUsed ? hasJoined : undefined);
  return invitation !== undefined && isUsed ? { ...settings, cluster: cluster as NonNullable<Settings['cluster']> } : settings;
}

const hasJoined =
  'The invitation on the medium KEYSTORED is not used, because this appliance has data: remove the medium. To join, reset it first.';

const restoring = 'The backup on the medium KEYSTORED is restored: leave the medium in until the service serves.';
const alreadyUsed =
  'Nothing is restored from the medium KEYSTORED, because this appliance has data: remove the medium. To replace the data, reset it first.';

/** Writes a secret to memory, from where systemd passes it to the daemon. */
function placeCredential(root: string, name: string, secret: string | undefined): void {
  const store = join(root, 'run/credstore');
  const file = join(store, `keystored.${name}`);
  rmSync(file, { force: true });
  if (secret === undefined) return;
  mkdirSync(store, { recursive: true });
  chmodSync(store, 0o700);
  writeFileSync(file, secret, { mode: 0o600 });
}

if (import.meta.main) configure('/');
