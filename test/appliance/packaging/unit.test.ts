// The systemd unit: how far it is fenced in, measured offline, and what it must say.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const packaging = resolve(import.meta.dirname, '../../../appliance/packaging');
const unit = join(packaging, 'systemd/keystored.service');
const text = readFileSync(unit, 'utf8');
const analyzer = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!analyzer) console.warn('SKIPPED: the exposure score of keystored.service, because systemd-analyze is not installed');

/** Whether the score is at most a tenth of `threshold`. */
function isFenced(file: string, threshold: number): boolean {
  return spawnSync('systemd-analyze', ['security', '--offline=true', `--threshold=${threshold}`, file]).status === 0;
}

test.skipIf(!analyzer)('keystored.service scores 1.5 or better, and the check notices what is left out', () => {
  expect(isFenced(unit, 15)).toBe(true);
  const weak = path('keystored.service');
  writeFileSync(weak, text.replace(/^(?:CapabilityBoundingSet|SystemCallFilter|PrivateUsers)=.*$/gm, ''));
  expect(isFenced(weak, 15)).toBe(false);
});

test.skipIf(!analyzer)('on the appliance, with what is laid over it there, it scores no worse; a setting laid over it counts', () => {
  const onAppliance = (more: string): string => {
    const directory = path(`appliance-${more.length}`);
    mkdirSync(join(directory, 'keystored.service.d'), { recursive: true });
    copyFileSync(unit, join(directory, 'keystored.service'));
    const dropIn = join(packaging, 'os/tree/usr/lib/systemd/system/keystored.service.d/appliance.conf');
    writeFileSync(join(directory, 'keystored.service.d/appliance.conf'), `${readFileSync(dropIn, 'utf8')}\n[Service]\n${more}`);
    return join(directory, 'keystored.service');
  };
  expect(isFenced(onAppliance(''), 15)).toBe(true);
  expect(isFenced(onAppliance('CapabilityBoundingSet=~\nSystemCallFilter=\nPrivateUsers=no\n'), 15)).toBe(false);
});

test.skipIf(!analyzer)('every setting has a value this or a later systemd understands', () => {
  const sockets = ['management', 'est'].map((name) => join(packaging, `systemd/keystored-${name}.socket`));
  const { stderr } = spawnSync('systemd-analyze', ['verify', unit, ...sockets], { encoding: 'utf8' });
  // systemd 252 does not know these four yet; each is beside an older setting, or the daemon works without it. Nothing is installed here.
  const newer = /OpenFile|ImportCredential|boolean value, ignoring: (?:disconnected|strict)|node is not executable/;
  const complaints = stderr.split('\n').filter((line) => /keystored[\w-]*\.(?:service|socket):/.test(line) && !newer.test(line));
  expect(complaints).toEqual([]);
});

test('the ports that are held, and may be bound, are those of the configuration the package brings; etcd, KMIP and other enrolment protocols may bind their own', () => {
  const allowed = [...text.matchAll(/^SocketBindAllow=tcp:(\d+)$/gm)].map(([, port]) => port);
  const named = [...readFileSync(join(packaging, 'keystored.yaml'), 'utf8').matchAll(/listen: [\d.]+:(\d+)/g)].map(([, port]) => port);
  expect(named).toEqual(['4646', '4665']);
  expect(allowed).toEqual([...named, '4666', '4667', '4668', '5696', '2379', '2380']);
  const held = ['management', 'est'].map((name) => readFileSync(join(packaging, `systemd/keystored-${name}.socket`), 'utf8'));
  expect(held.map((socket) => /^ListenStream=127\.0\.0\.1:(\d+)$/m.exec(socket)?.[1])).toEqual(named);
});

test('the daemon may list the addresses of the machine, which go into its certificates: Node.js asks by netlink', () => {
  expect(text).toMatch(/^RestrictAddressFamilies=.*\bAF_NETLINK\b/m);
});

test('readiness, watchdog, graceful stop and sealed PINs are set, and memory stays off the disk', () => {
  for (const line of [
    'Type=notify',
    'WatchdogSec=90',
    'KillMode=mixed',
    'LoadCredential=keystored.pin',
    'ImportCredential=keystored.*',
    'LimitCORE=0',
    'UMask=0077',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});
