// The definition of the bootable image, as far as it can be judged without building it: what has to fit together, and what must not be open.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const image = resolve(import.meta.dirname, '../../../appliance/packaging/image');
const initrd = join(image, 'mkosi.images/initrd/mkosi.extra/usr/lib');
const transfers = join(image, 'mkosi.extra/usr/lib/sysupdate.d');

/** `Name=value` lines of a file, the last of each name. */
function settings(...path: string[]): Readonly<Record<string, string>> {
  return Object.fromEntries([...readFileSync(join(...path), 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
}

test('the slots of a running machine are as large as those of the published disk, and each other', () => {
  for (const [published, ...made] of [
    ['00-esp', '00-esp'],
    ['10-root', '10-root-a', '20-root-b'],
    ['11-root-verity', '11-root-verity-a', '21-root-verity-b'],
  ]) {
    const { Type, SizeMinBytes } = settings(image, 'mkosi.repart', `${published}.conf`);
    expect(SizeMinBytes).toMatch(/^\d+M$/);
    for (const name of made) {
      expect(settings(initrd, 'keystored/repart.d', `${name}.conf`)).toMatchObject({ Type, SizeMinBytes, SizeMaxBytes: SizeMinBytes });
    }
  }
});

test('the state is encrypted with and without a TPM, and a factory reset creates it again', () => {
  for (const [kind, way] of Object.entries({ 'var-tpm2': 'tpm2', 'var-key-file': 'key-file' })) {
    expect(settings(initrd, 'keystored', kind, '30-var.conf')).toMatchObject({ Encrypt: way, FactoryReset: 'yes', Label: 'keystored-var' });
  }
});

test('the parts of an update are taken from where they are laid, and never over the version that runs', () => {
  const update = readFileSync(resolve(image, '../os/programs/update.ts'), 'utf8');
  for (const name of readdirSync(transfers)) {
    const text = readFileSync(join(transfers, name), 'utf8');
    expect(text).toMatch(/^ProtectVersion=%A$/m);
    const [, place] = /^Path=\/(.*)$/m.exec(text) ?? [];
    expect(update).toContain(`'${place}'`);
  }
});

test('nobody hands credentials, a shell or a first-boot questionnaire to the system from outside', () => {
  const commandLine = readFileSync(join(image, 'mkosi.conf'), 'utf8').split('KernelCommandLine=')[1]?.split('\n\n')[0] ?? '';
  const words = commandLine.trim().split(/\s+/);
  for (const word of ['systemd.import_credentials=no', 'systemd.firstboot=no', 'systemd.getty_auto=no', 'lockdown=integrity']) {
    expect(words).toContain(word);
  }
  expect(readFileSync(join(initrd, 'systemd/system/emergency.service'), 'utf8')).not.toMatch(/sulogin|\/sh\b/);
});

test('what is run while an image is built or started is executable and can be read by its shell', () => {
  for (const script of [join(initrd, 'keystored/prepare-disk'), join(image, 'mkosi.finalize'), join(image, 'mkosi.postinst.chroot')]) {
    expect(statSync(script).mode & 0o111).toBe(0o111);
    expect(spawnSync('sh', ['-n', script])).toMatchObject({ status: 0 });
  }
});
