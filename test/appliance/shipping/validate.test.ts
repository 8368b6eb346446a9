// What a start refuses of the destinations: one line with the destination, the field and the fix, and no secret.
import { writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../core/wire/json.ts';
import { requireUsable } from '../../../appliance/shipping/validate.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { httpsTo } from './destinations.ts';
import { makePki, type Pki } from './pki.ts';

const at = temporaryDirectory();
let pki: Pki;
beforeAll(() => {
  pki = makePki(at('.'));
  writeFileSync(at('bad-token'), 'secret value');
  writeFileSync(at('empty'), '');
});

const refuses = (fields: JsonObject) => (): void => requireUsable([httpsTo({ port: 1 }, 'json-lines', pki, fields)]);

test('files and secrets', () => {
  expect(refuses({ 'certificate-file': pki.client, 'key-file': pki.clientKey })).not.toThrow();
  expect(refuses({ 'ca-file': at('none') })).toThrow(/^shipping: destination siem: ca-file: .*none cannot be read \(ENOENT\)$/);
  expect(refuses({ 'ca-file': at('empty') })).toThrow(/^shipping: destination siem: ca-file: .* has no certificate in PEM$/);
  expect(refuses({ 'certificate-file': pki.client, 'key-file': pki.outsiderKey })).toThrow(
    /siem: key-file is not the key of certificate-file/,
  );
  expect(refuses({ token: { file: at('empty') } })).toThrow(/destination siem: the token source file .* is empty/);
  expect(refuses({ token: { file: at('bad-token') } })).toThrow(
    /^shipping: destination siem: token: has characters that a header cannot have$/,
  );
});

test('fields that do not fit', () => {
  expect(refuses({ labels: {} })).toThrow(/is not for protocol json-lines: remove it from destination siem, or use loki/);
  expect(refuses({ 'key-file': 'x' })).toThrow(/destination siem needs certificate-file and key-file together/);
  expect(refuses({ acknowledgements: true })).toThrow(/only for protocol splunk: remove it from destination siem/);
  expect(refuses({ format: 'cef' })).toThrow(/cef is only for syslog: destination siem can have json or ecs/);
});
