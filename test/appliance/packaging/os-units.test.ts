// What stageOs lays over a root tree: units that systemd understands and that are fenced in, and nothing that gives a shell.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { stageOs } from '../../../appliance/packaging/os/stage-os.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const root = temporaryDirectory()('root');
const units = join(root, 'usr/lib/systemd/system');
const analyzer = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!analyzer) console.warn('SKIPPED: the units of the appliance, because systemd-analyze is not installed');

beforeAll(async () => {
  mkdirSync(join(root, 'usr/lib/keystored/appliance'), { recursive: true });
  // Twice: a build that goes on from a tree it has made before finds the same.
  await stageOs(root);
  await stageOs(root);
});

const services = (): string[] => readdirSync(units).filter((name) => name.endsWith('.service'));

test('a tree without the package is refused', async () => {
  await expect(stageOs(join(root, 'var'))).rejects.toThrow('install its package');
});

test.skipIf(!analyzer)('systemd understands every unit', () => {
  const files = readdirSync(units)
    .filter((name) => /\.(?:service|socket|path|timer)$/.test(name))
    .map((name) => join(units, name));
  const { stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
  expect(stderr.split('\n').filter((line) => /keystored/.test(line) && !/is not executable/.test(line))).toEqual([]);
});

test.skipIf(!analyzer)('every service of the appliance is at 3.0 or better', () => {
  for (const name of services()) {
    const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=30', join(units, name)], {
      encoding: 'utf8',
    });
    expect([status, stdout.split('\n').at(-2)], name).toEqual([0, expect.stringContaining(name.replace('@', '@i'))]);
  }
});

test('a trial, the last one too, leads back when the gate fails and takes no update; what has proven itself does neither', () => {
  const statuses = ['indeterminate', 'dirty', 'good', 'bad', 'clean', ''];
  const goes = (unit: string): string[] => {
    const [, line = ''] = /^ExecCondition=\+?\/bin\/sh -c '(.*)'$/m.exec(readFileSync(join(units, unit), 'utf8')) ?? [];
    const script = line.replaceAll('$$', '$').replace('/usr/lib/systemd/systemd-bless-boot status', 'echo "$1"');
    expect(script).toContain('echo "$1"');
    return statuses.filter((status) => spawnSync('/bin/sh', ['-c', script, 'sh', status]).status === 0);
  };
  expect(goes('keystored-fall-back.service')).toEqual(['indeterminate', 'dirty']);
  expect(goes('keystored-update.service')).toEqual(['good', 'bad', 'clean', '']);
});

test('an update is concluded when its parts lay ready, or when none may be taken, and not after a refusal', () => {
  const unit = readFileSync(join(units, 'keystored-update.service'), 'utf8');
  const [, line = ''] = /^ExecStopPost=\/bin\/sh -c '(.*)'$/m.exec(unit) ?? [];
  const manifest = join(root, 'manifest.json');
  const concludes = (result: string): boolean => {
    const script = line
      .replaceAll('$$', '$')
      .replace(/exec .*/, 'echo concluded')
      .replace(/\/var\S+/, manifest);
    return spawnSync('/bin/sh', ['-c', script], { env: { SERVICE_RESULT: result }, encoding: 'utf8' }).stdout === 'concluded\n';
  };
  expect(['success', 'exit-code', 'exec-condition'].map(concludes)).toEqual([false, false, true]);
  writeFileSync(manifest, '');
  expect(['success', 'exit-code', 'exec-condition'].map(concludes)).toEqual([true, true, true]);
  rmSync(manifest);
});

test('every program a unit starts is there, and every service that is wanted is enabled by the preset', () => {
  const preset = readFileSync(join(root, 'usr/lib/systemd/system-preset/00-keystored.preset'), 'utf8');
  for (const name of services()) {
    const text = readFileSync(join(units, name), 'utf8');
    for (const [program = ''] of text.matchAll(/\/usr\/lib\/keystored\/appliance\/\S+/g)) {
      expect(statSync(join(root, program)).isFile(), `${name}: ${program}`).toBe(true);
    }
    expect(preset.includes(`enable ${name}\n`), name).toBe(text.includes('[Install]'));
  }
  expect(preset.trimEnd().split('\n').at(-1)).toBe('disable *');
});

test('whatever the builder’s umask: root alone writes, and no terminal asks for a login', () => {
  const loose = spawnSync('find', [root, '!', '-type', 'l', '-perm', '/7022'], { encoding: 'utf8' });
  expect(loose.stdout).toBe('');
  for (const unit of ['getty@.service', 'serial-getty@.service', 'debug-shell.service', 'rescue.service'])
    expect(readlinkSync(join(root, 'etc/systemd/system', unit))).toBe('/dev/null');
});
