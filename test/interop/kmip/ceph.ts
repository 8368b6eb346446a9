// A Ceph cluster of one machine with its gateway for S3: a monitor, a store in memory and radosgw, of the packages of the distribution, unpacked and not installed.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { must, toolDirectory } from '../../clients/commands.ts';
import { endWithTests } from '../../harness/children.ts';
import { freePort } from '../../harness/daemon.ts';
import { unpackWithDependencies } from '../../harness/debian-packages.ts';

/** The programs; rejects where the distribution has none. */
export function cephPrograms(): Promise<string> {
  return unpackWithDependencies(toolDirectory('ceph'), ['radosgw', 'ceph-mon', 'ceph-osd']);
}

/** Keys of the user of the gateway. */
export const cephUser = { accessKeyId: 'CEPHUSER', secretAccessKey: 'of-the-user' } as const;

/** Files of the gateway's client of KMIP, and where it asks. */
export type KmipOfCeph = { readonly address: string; readonly ca: string; readonly certificate: string; readonly key: string };

/** Starts everything below `directory`; resolves to the address of the gateway. All of it ends with the tests. */
export async function startCeph(root: string, directory: string, kmip: KmipOfCeph): Promise<string> {
  for (const folder of ['mon', 'osd', 'rgw']) mkdirSync(join(directory, folder), { recursive: true });
  const [monitor, old, gateway] = [await freePort(), await freePort(), await freePort()];
  const machine = readdirSync(join(root, 'usr/lib')).find((name) => name.endsWith('-linux-gnu')) ?? '';
  const libraries = join(root, 'usr/lib', machine);
  const addresses = `[v2:127.0.0.1:${monitor},v1:127.0.0.1:${old}]`;
  const [fsid, osd] = [randomUUID(), randomUUID()];
  const settings = {
    fsid,
    'mon host': addresses,
    // Nobody but these processes reaches the ports, and the files of the tests have nothing that is worth a key.
    ...{ 'auth cluster required': 'none', 'auth service required': 'none', 'auth client required': 'none', 'ms mon client mode': 'crc' },
    ...{ 'run dir': directory, 'log file': `${directory}/$name.log`, 'admin socket': `${directory}/$name.asok` },
    ...{ 'mon cluster log file': `${directory}/cluster.log`, 'mon data': `${directory}/mon`, 'osd data': `${directory}/osd` },
    ...{
      'plugin dir': `${libraries}/ceph`,
      'erasure code dir': `${libraries}/ceph/erasure-code`,
      'osd class dir': `${libraries}/rados-classes`,
    },
    ...{
      'osd objectstore': 'memstore',
      'memstore device bytes': '1073741824',
      'osd pool default size': '1',
      'osd pool default min size': '1',
    },
    ...{ 'osd pool default pg num': '1', 'osd pool default pgp num': '1', 'osd pool default pg autoscale mode': 'off' },
    ...{ 'osd crush chooseleaf type': '0', 'mon allow pool size one': 'true', 'mon data avail crit': '1' },
    ...{ 'rgw data': `${directory}/rgw`, 'rgw frontends': `beast endpoint=127.0.0.1:${gateway}`, 'rgw crypt require ssl': 'false' },
    ...{ 'rgw crypt s3 kms backend': 'kmip', 'rgw crypt kmip addr': kmip.address, 'rgw crypt kmip ca path': kmip.ca },
    ...{ 'rgw crypt kmip client cert': kmip.certificate, 'rgw crypt kmip client key': kmip.key },
  };
  const file = join(directory, 'ceph.conf');
  writeFileSync(
    file,
    `[global]\n${Object.entries(settings)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')}`,
  );
  const environment = {
    CEPH_CONF: file,
    LD_LIBRARY_PATH: [libraries, join(libraries, 'ceph'), join(root, 'usr/lib'), join(root, 'lib', machine)].join(':'),
    PYTHONPATH: join(root, 'usr/lib/python3/dist-packages'),
  };
  const program = (name: string): string => join(root, 'usr/bin', name);
  const runs = (name: string, ...words: readonly string[]) => must(program(name), words, { environment });
  const serves = (name: string, ...words: readonly string[]): void =>
    endWithTests(spawn(program(name), [...words, '-f'], { stdio: 'ignore', detached: true, env: { ...process.env, ...environment } }));
  /** The program of the distribution's own Python, for which its modules are built. */
  const commands = (...words: readonly string[]) =>
    must('/usr/bin/python3', [program('ceph'), '--connect-timeout', '60', ...words], { environment });

  const [map, keyring] = [join(directory, 'monmap'), join(directory, 'keyring')];
  await runs('monmaptool', '--create', '--addv', 'a', addresses, '--fsid', fsid, map);
  await runs('ceph-authtool', '--create-keyring', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *');
  await runs('ceph-mon', '-i', 'a', '--mkfs', '--monmap', map, '--keyring', keyring);
  serves('ceph-mon', '-i', 'a');
  await commands('osd', 'new', osd, '0');
  await commands('osd', 'crush', 'add', 'osd.0', '1.0', 'host=a', 'root=default');
  await runs('ceph-osd', '-i', '0', '--mkfs', '--mkkey', '--osd-uuid', osd);
  serves('ceph-osd', '-i', '0');
  const { accessKeyId, secretAccessKey } = cephUser;
  await runs(
    'radosgw-admin',
    'user',
    'create',
    '--uid=u',
    '--display-name=u',
    `--access-key=${accessKeyId}`,
    `--secret-key=${secretAccessKey}`,
  );
  serves('radosgw', '-n', 'client.admin');
  return `http://127.0.0.1:${gateway}`;
}
