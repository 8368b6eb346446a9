// A backup without keystored: age and tar of Debian open what the appliance sealed, and the appliance opens what age sealed.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { beginAge, openAge } from '../../appliance/backup/format/age.ts';
import { formatTarEnd, formatTarEntry } from '../../appliance/backup/format/tar.ts';
import { readIdentityFile } from '../../appliance/backup/format/recipients.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();

test('age --decrypt and tar unpack an archive of the appliance, and it opens a file of age', async () => {
  execFileSync('age-keygen', ['--output', path('identity')], { stdio: 'ignore' });
  const recipient = execFileSync('age-keygen', ['-y', path('identity')], { encoding: 'utf8' }).trim();
  const content = randomBytes(200_000);
  async function* archive(): AsyncGenerator<Uint8Array> {
    yield* formatTarEntry('store/data.mdb', content.length, [content]);
    yield formatTarEnd();
  }
  const file = await beginAge({ recipients: [recipient] });
  writeFileSync(path('backup.age'), Buffer.concat(await Array.fromAsync(file.seal(archive()))));
  mkdirSync(path('out'));
  execFileSync('sh', ['-c', 'age --decrypt --identity identity backup.age | tar --extract --directory out'], { cwd: path() });
  expect(readFileSync(path('out/store/data.mdb')).equals(content)).toBe(true);

  writeFileSync(path('plain'), content);
  execFileSync('age', ['--recipient', recipient, '--output', path('theirs.age'), path('plain')]);
  async function* theirs(): AsyncGenerator<Uint8Array> {
    yield readFileSync(path('theirs.age'));
  }
  const opened = await Array.fromAsync(openAge({ identities: await readIdentityFile(path('identity')) }, theirs()));
  expect(Buffer.concat(opened).equals(content)).toBe(true);
});
