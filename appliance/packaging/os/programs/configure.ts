// At every start of the machine: settings from the medium, if one is there and says something right, else as they were; then rendered.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeDurably } from '../../../../core/base/durable-files.ts';
import { readCaFingerprint } from './daemon-state.ts';
import { writeNotice } from './notices.ts';
import { renderSettings } from './render.ts';
import { defaultSettings, parseSettings, SettingsError, type Settings } from './settings.ts';
import { readVersion } from './version.ts';

/** Longer is no settings file. */
const mostBytes = 64 * 1024;

/**
 * Everything below `root`, which is `/` but in tests. What the medium says is kept before it is used; when it is wrong, the status
 * screen says why and the last good settings stay. A factory reset is asked for by the fingerprint of the CA it will destroy: a medium
 * that is left in the machine does not reset it again.
 */
export function configure(root: string): void {
  const kept = join(root, 'var/lib/keystored-os/settings.json');
  const settings = fromMedium(root, kept) ?? fromKept(root, kept) ?? defaultSettings;
  for (const [path, text] of Object.entries(renderSettings(settings))) {
    mkdirSync(dirname(join(root, path)), { recursive: true, mode: 0o755 });
    writeFileSync(join(root, path), text);
  }
  placePin(root, settings);
  tellWhatWasLeft(root);
  if (settings.factoryReset !== undefined && settings.factoryReset === readCaFingerprint(root))
    writeFileSync(join(root, 'run/keystored-os/factory-reset'), '');
}

function fromMedium(root: string, kept: string): Settings | undefined {
  const file = join(root, 'run/keystored-medium/keystored.json');
  writeNotice(root, 'settings', undefined);
  if (!existsSync(file)) return undefined;
  try {
    const content = readSmall(file);
    const settings = parseSettings(content);
    requireKnownPin(root, settings);
    writeDurably(kept, withoutPins(content, settings));
    writeNotice(root, 'settings', 'The settings of the medium KEYSTORED are in use and kept: remove the medium, it is not needed again.');
    return settings;
  } catch (error) {
    const reason = error instanceof SettingsError ? error.message : `cannot be used (${(error as NodeJS.ErrnoException).code ?? 'fault'})`;
    writeNotice(root, 'settings', `keystored.json on the medium KEYSTORED ${reason}. The settings before stay: mend the file and restart.`);
    return undefined;
  }
}

/** The PIN that the embedded token was made with lies where nobody can read it: an appliance that waits for it would wait for ever. */
function requireKnownPin(root: string, { start, token, pin }: Settings): void {
  const data = join(root, 'var/lib/keystored');
  const isKnown = token !== undefined || pin !== undefined || (existsSync(join(data, 'softhsm')) && !existsSync(join(data, 'pin')));
  if (start === 'attended' && !isKnown) throw new SettingsError('"pin" must be given with an attended start: choose one');
}

/** A chosen PIN is handed on once; where a person gives the PIN at every start, it stands nowhere. */
function withoutPins(content: Uint8Array, { start }: Settings): string {
  const { pin: _chosen, ...settings } = JSON.parse(Buffer.from(content).toString()) as { pin?: string; token?: { pin?: string } };
  if (start === 'attended') delete settings.token?.pin;
  return JSON.stringify(settings);
}

/** A later version may know less than the one that kept them: then the appliance still has to start. */
function fromKept(root: string, kept: string): Settings | undefined {
  if (!existsSync(kept)) return undefined;
  try {
    return parseSettings(readSmall(kept));
  } catch (error) {
    const reason = error instanceof SettingsError ? error.message : 'cannot be read';
    writeNotice(root, 'settings', `The settings that were kept: ${reason}. The appliance uses DHCP; give them anew on a medium KEYSTORED.`);
    return undefined;
  }
}

function readSmall(file: string): Uint8Array {
  const { size } = statSync(file);
  if (size > mostBytes) throw new SettingsError(`is longer than ${mostBytes} octets`);
  return readFileSync(file);
}

/** A version of which no trial is left (systemd-boot counts them in the name), unless it is in its last one now. */
function tellWhatWasLeft(root: string): void {
  const directory = join(root, 'efi/EFI/Linux');
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const [left] = names.flatMap((name) => /^keystored_(.+)\+0(?:-\d+)?\.efi$/.exec(name)?.[1] ?? []);
  const text = `Version ${left} was left again, because it did not serve in its trials. This one serves; take another update.`;
  writeNotice(root, 'trials', left === undefined || left === readVersion(root) ? undefined : text);
}

/** systemd hands what lies here to the daemon, and it is gone with the power. */
function placePin(root: string, { token, pin = token?.pin }: Settings): void {
  const store = join(root, 'run/credstore');
  rmSync(join(store, 'keystored.pin'), { force: true });
  if (pin === undefined) return;
  mkdirSync(store, { recursive: true });
  chmodSync(store, 0o700);
  writeFileSync(join(store, 'keystored.pin'), pin, { mode: 0o600 });
}

if (import.meta.main) configure('/');
