// What the appliance says of its image: from the files that systemd, the boot loader and the programs of the image keep, and nothing elsewhere.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readImage } from '../../../appliance/machine/image.ts';
import { writeNotice } from '../../../appliance/packaging/os/programs/notices.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const root = path('root');
const counted = 'sys/firmware/efi/efivars/LoaderBootCountPath-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f';

function put(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

test('a machine that is not the image has none, whatever its distribution says', () => {
  expect(readImage(path('nothing'))).toBeUndefined();
  put('usr/lib/os-release', 'ID=debian\nVERSION_ID="12"\n');
  expect(readImage(root)).toBeUndefined();
  put('usr/lib/os-release', 'ID=other\nIMAGE_ID=something\nIMAGE_VERSION=7\n');
  expect(readImage(root)).toBeUndefined();
});

test('the image has a version, the versions of its slots, a trial that is pending until it is accepted, and the result of an update', () => {
  put('usr/lib/os-release', 'ID=debian\nIMAGE_ID="keystored"\nIMAGE_VERSION="0.2.0"\n');
  expect(readImage(root)).toEqual({ version: '0.2.0', slots: [], trial: 'none' });
  for (const [name, label] of Object.entries({
    vda1: 'ESP',
    vda2: 'keystored_0.2.0',
    vda3: 'keystored_0.2.0',
    vda4: '_empty',
    vda5: 'var',
  }))
    put(`sys/class/block/${name}/uevent`, `DEVTYPE=partition\nPARTN=1\nPARTNAME=${label}\n`);
  put('sys/class/block/vda/uevent', 'DEVTYPE=disk\n');
  expect(readImage(root)?.slots).toEqual([{ version: '0.2.0', running: true }]);
  for (const name of ['vda4', 'vda6']) put(`sys/class/block/${name}/uevent`, 'PARTNAME=keystored_0.1.9\n');
  put(counted, '');
  writeNotice(root, 'update', 'Version 0.2.0 is installed beside this one.');
  expect(readImage(root)).toEqual({
    version: '0.2.0',
    slots: [
      { version: '0.1.9', running: false },
      { version: '0.2.0', running: true },
    ],
    trial: 'pending',
    lastUpdate: 'Version 0.2.0 is installed beside this one.',
  });
  mkdirSync(join(root, 'run/systemd/units'), { recursive: true });
  symlinkSync('5d1c0e8f', join(root, 'run/systemd/units/invocation:systemd-bless-boot.service'));
  expect(readImage(root)?.trial).toBe('confirmed');
  rmSync(join(root, counted));
  expect(readImage(root)?.trial).toBe('none');
});
