// Needs of a start that is to open the tokens: where their PINs come from, and which files of the machine have one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '../../core/config/config.ts';
import type { PinSource } from '../../hsm/api.ts';
import { hasCustodians } from './ceremony.ts';
import { pinFilesOf } from './custody.ts';
import { embeddedTokenName } from '../tokens/embedded-token.ts';
import type { Origin, PinOrigin } from '../tokens/pin-origin.ts';

/** Of the configuration and the files as they are now: a seal and an unseal change neither. */
export function pinOrigin(configuration: Pick<Configuration, 'data' | 'hsm' | 'attended'>): PinOrigin {
  const { data, hsm, attended } = configuration;
  const embedded = { name: embeddedTokenName, pin: { file: join(data, 'pin'), next: join(data, 'pin.new') } };
  const tokens = hsm.tokens.length === 0 ? [embedded] : hsm.tokens;
  const pins = tokens.map(({ name, pin }): Origin => {
    if (attended) return { token: name, source: hasCustodians(data) ? 'custodians' : 'person' };
    return { token: name, ...placeOf(pin) };
  });
  const isThere = ({ source, place }: Origin): boolean => (source === 'own-file' || source === 'file' ? existsSync(place ?? '') : true);
  return { opensByItself: !attended && pins.every(isThere), pins, pinFiles: [...new Set(pinFilesOf(configuration))] };
}

function placeOf(pin: PinSource): Omit<Origin, 'token'> {
  if ('file' in pin) return { source: pin.next === undefined ? 'file' : 'own-file', place: pin.file };
  if ('environment' in pin) return { source: 'environment', place: pin.environment };
  return 'credential' in pin ? { source: 'credential', place: pin.credential } : { source: 'person' };
}
