// The operations of the appliance's machine: who may ask, what the program with the rights does, and that it does nothing else.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { operate } from '../../../appliance/machine/machine-operations.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const program = resolve(import.meta.dirname, '../../../appliance/packaging/os/tree/usr/lib/keystored-os/operate');
const url = '/v1/state/system/operate';

/** Runs the program with a systemctl that only notes what it is told, and firmware variables in a directory. */
function run(word: string, variables: string) {
  const bin = path('bin');
  const log = path('systemctl.log');
  mkdirSync(bin, { recursive: true });
  writeFileSync(log, '');
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$*" >>'${log}'\n`);
  chmodSync(join(bin, 'systemctl'), 0o755);
  const script = readFileSync(program, 'utf8').replace('/sys/firmware/efi/efivars', variables);
  const { stdout, status } = spawnSync('/bin/sh', ['-c', script], { input: word, encoding: 'utf8', env: { PATH: `${bin}:/usr/bin:/bin` } });
  return { said: stdout, status, done: readFileSync(log, 'utf8') };
}

test('each word does its one thing; everything else is refused and does nothing', () => {
  const variables = path('variables');
  mkdirSync(variables);
  expect(run('reboot\n', variables)).toEqual({ said: 'done\n', status: 0, done: '--no-block reboot\n' });
  expect(run('power-off\n', variables)).toEqual({ said: 'done\n', status: 0, done: '--no-block poweroff\n' });
  for (const word of ['', '\n', 'reboot; id\n', '$(id)\n', '*\n', 'reboot power-off\n', '--help\n'])
    expect(run(word, variables)).toEqual({ said: 'refused: unknown operation\n', status: 1, done: '' });
  expect(existsSync(join(variables, 'FactoryReset-8cf2644b-4b0b-428f-9387-6d876050dc67'))).toBe(false);
});

test('a factory reset is the variable that systemd-repart reads, and a reboot; without firmware variables nothing', () => {
  const variables = path('firmware');
  mkdirSync(variables);
  expect(run('factory-reset\n', variables)).toEqual({ said: 'done\n', status: 0, done: '--no-block reboot\n' });
  const variable = readFileSync(join(variables, 'FactoryReset-8cf2644b-4b0b-428f-9387-6d876050dc67'));
  expect(variable).toEqual(Buffer.concat([Buffer.from([7, 0, 0, 0]), Buffer.from('yes', 'utf16le')]));
  expect(run('factory-reset\n', path('none'))).toEqual({ said: 'refused: the firmware keeps no variables\n', status: 1, done: '' });
});

test('the daemon hands one word on for the root of system, for nobody else, and not at all where there is no socket', async () => {
  const socket = path('operate.sock');
  const heard: string[] = [];
  const machine = createServer((connection) => {
    connection.setEncoding('utf8').on('data', (word: string) => {
      heard.push(word);
      connection.end(word === 'power-off\n' ? 'refused: busy\n' : 'done\n');
    });
  });
  await new Promise<void>((listening) => machine.listen(socket, listening));
  const config = path('keystored.yaml');
  writeFileSync(config, `operations-socket: ${socket}\n`);
  const daemon = await startDaemon({ directory: path('appliance'), args: ['--config', config] });
  expect((await daemon.exchange('POST', url, { operation: 'reboot' })).status).toBe(204);
  expect(await daemon.exchange('POST', url, { operation: 'power-off' })).toMatchObject({
    status: 409,
    body: { code: 'operation-refused', detail: expect.stringContaining('"power-off" was not begun, and nothing was changed: busy.') },
  });
  expect((await daemon.exchange('POST', url, { operation: 'reboot\npower-off' })).status).toBe(400);
  expect((await daemon.exchange('POST', url, { operation: 'reboot' }, 'somebody')).status).toBe(401);
  const tenant = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] })) as { token: string };
  expect((await daemon.exchange('POST', url, { operation: 'reboot' }, tenant.token)).status).toBe(403);
  expect(heard).toEqual(['reboot\n', 'power-off\n']);
  // A reset destroys keys: a rule about that asks other people, as for a deletion. It leaves the others to rules that name `stop`.
  await daemon.request('POST', '/v1/config/keystore/authentication/approles', { name: 'anna' });
  const rule = { name: 'ends', acts: ['destroy'], needed: 1, approvers: { approles: ['anna'] }, force: true };
  await daemon.request('POST', '/v1/config/approval/rules', rule);
  const reset = await daemon.exchange('POST', url, { operation: 'factory-reset' });
  expect(reset).toMatchObject({ status: 403, body: { code: 'approval-needed' } });
  expect((await daemon.exchange('POST', url, { operation: 'reboot' })).status).toBe(204);
  expect(heard).toEqual(['reboot\n', 'power-off\n', 'reboot\n']);
  expect(await daemon.stop()).toBe(0);
  machine.close();

  const plain = await startDaemon({ directory: path('plain') });
  expect((await plain.exchange('POST', url, { operation: 'reboot' })).status).toBe(404);
  expect(await plain.stop()).toBe(0);
});

test('a machine that does not answer, or with no reason, is not taken for one that does', async () => {
  await expect(operate(path('nobody.sock'), 'reboot')).rejects.toMatchObject({ code: 'machine-unavailable', status: 503 });
  for (const said of ['', 'refused: \n', 'refused: a\u0007b\n', 'done', 'refused: one\ntwo\n']) {
    const machine = createServer((connection) => void connection.on('data', () => connection.end(said)));
    const socket = path(`${Buffer.from(said).toString('hex')}.sock`);
    await new Promise<void>((listening) => machine.listen(socket, listening));
    await expect(operate(socket, 'reboot')).rejects.toMatchObject({ code: 'machine-unavailable' });
    machine.close();
  }
});
