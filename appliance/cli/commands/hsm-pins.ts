// hsm change-pin: changes a PIN in the token and in the appliance's own file. For any other source of the PIN it names the remaining steps.
import { Secret } from '../../../core/base/secret.ts';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { Option } from 'commander';
import type { PinSource, TokenConfig } from '../../../hsm/api.ts';
import { changePin } from '../../../hsm/setup/setup.ts';
import { usageError } from '../terminal/failure.ts';
import { chooseTokens, tokenOptions, type TokenOptions } from './hsm-tokens.ts';
import type { Io } from '../terminal/io.ts';

export type ChangeOptions = TokenOptions & { name?: string; newPinFile?: string; so?: boolean; soPinFile?: string };

/** The options of the command. */
export function changePinOptions(): Option[] {
  return [
    ...tokenOptions(),
    new Option('--name <TOKEN>', 'name of the token, where the configuration has several'),
    new Option('--new-pin-file <FILE>', 'file with the new PIN; the embedded token gets a random one without it'),
    new Option('--so', 'change the PIN of the security officer'),
    new Option('--so-pin-file <FILE>', 'with --so: file with the present SO PIN; the embedded token knows its own'),
  ].map((option) => option.helpGroup('Token:'));
}

/** Changes a PIN. Throws a usage error when token, PIN or new PIN are not determined. */
export async function runChangePin(options: ChangeOptions, io: Io): Promise<void> {
  const token = await oneToken(options);
  const isSo = options.so === true;
  const pin = isSo ? soPinOf(token, options.soPinFile) : token.pin;
  const isOwn = 'file' in pin && pin.next !== undefined;
  const newPin: PinSource | undefined =
    options.newPinFile === undefined
      ? isOwn
        ? { given: new Secret(randomBytes(16).toString('hex')) }
        : undefined
      : { file: options.newPinFile };
  if (newPin === undefined) throw usageError('give --new-pin-file FILE: the PIN of this token is not kept by keystored');
  await changePin({ ...token, pin, newPin, user: isSo ? 'so' : 'user' });
  // The appliance does not read a PIN file that was given for this command only.
  const place = options.module === undefined && options.pinFile !== undefined ? 'where the appliance takes it from' : placeOf(pin);
  io.stderr.write(
    `changed the ${isSo ? 'SO' : 'user'} PIN of token ${token.name}\n${isSo ? soAdvice(pin, isOwn) : advice(pin, isOwn, place)}\n`,
  );
}

async function oneToken(options: ChangeOptions): Promise<TokenConfig> {
  const tokens = await chooseTokens(options, options.so !== true);
  const names = tokens.map(({ name }) => name).join(', ');
  const found = tokens.filter(({ name }) => options.name === undefined || name === options.name);
  const [token, ...more] = found;
  if (token === undefined) throw usageError(`there is no token ${options.name}; there are: ${names}`);
  if (more.length > 0) throw usageError(`there are several tokens: give --name with one of: ${names}`);
  return token;
}

/** The SO PIN of the embedded token is in the same directory as its user PIN. */
function soPinOf({ pin }: TokenConfig, file: string | undefined): PinSource {
  if (file !== undefined) return { file };
  if (!('file' in pin) || pin.next === undefined) throw usageError('give --so-pin-file FILE with the present SO PIN');
  const own = join(dirname(pin.file), 'so-pin');
  return { file: own, next: `${own}.new` };
}

function advice(pin: PinSource, isOwn: boolean, place: string): string {
  const running = 'Processes that run stay logged in.';
  if (isOwn && 'file' in pin)
    return `${pin.file} has the new one. ${running} If the appliance is attended, seal it and unseal it with the new PIN.`;
  return `${running} Put the new PIN ${place} now: until then every restart tries the old one, and tokens lock after a few wrong PINs.`;
}

function soAdvice(pin: PinSource, isOwn: boolean): string {
  return isOwn && 'file' in pin ? `${pin.file} has the new one.` : 'keystored does not use it: keep it safe.';
}

function placeOf(pin: PinSource): string {
  if ('file' in pin) return `into ${pin.file}`;
  if ('environment' in pin) return `into the environment variable ${pin.environment}`;
  return 'credential' in pin ? `into the systemd credential ${pin.credential}` : 'where your administrators keep it';
}
