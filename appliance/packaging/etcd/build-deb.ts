// npm run build etcd: the etcd of appliances that are a cluster, as a package of its own beside that of keystored:
// dist/keystored-etcd_VERSION_ARCH.deb.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { writeBills } from '../bill/write.ts';
import { archiveDeb, commitEpochSeconds, controlOf, debianArchitecture, installedSize } from '../debian-archive.ts';
import { describeEtcd, etcdLicenses, etcdParts } from './modules.ts';
import { etcdProgram } from './program.ts';

const name = 'keystored-etcd';
/** Directory in which the configuration looks for it. */
const installed = 'usr/lib/keystored/etcd';

const [output = join(resolve(import.meta.dirname, '../../..'), 'dist')] = process.argv.slice(2);
const program = etcdProgram();
const etcd = describeEtcd();
const epochSeconds = commitEpochSeconds();
/** Another Go makes other octets of the same etcd. */
const version = `${etcd.version}+go${etcd.go}`;
const target = join(output, `${name}_${version}_${debianArchitecture()}.deb`);
const stage = mkdtempSync(join(tmpdir(), 'keystored-etcd-deb-'));
try {
  mkdirSync(dirname(join(stage, installed)), { recursive: true });
  cpSync(program, join(stage, installed));
  writeFileSync(join(stage, `${installed}.LICENSES`), etcdLicenses(etcd));
  const documents = join(stage, 'usr/share/doc', name);
  mkdirSync(documents, { recursive: true });
  // Systems without documents keep the files beside the program.
  symlinkSync(`/${installed}.LICENSES`, join(documents, 'copyright'));
  const size = installedSize(stage);
  mkdirSync(join(stage, 'DEBIAN'));
  const fields = {
    Package: name,
    Version: version,
    Architecture: debianArchitecture(),
    Maintainer: 'keystored maintainers <keystored@localhost>',
    'Installed-Size': size,
    Enhances: 'keystored',
    Section: 'net',
    Priority: 'optional',
    Description: `etcd ${etcd.version} for keystored\n The member of etcd that an appliance of a cluster runs itself.\n`,
  };
  writeFileSync(join(stage, 'DEBIAN/control'), controlOf(fields));
  console.log(archiveDeb(stage, target, { epochSeconds, isExecutable: (path) => path.endsWith(`/${installed}`) }));
  writeBills(target, { kind: 'application', name, version, parts: etcdParts(etcd), epochSeconds });
} finally {
  rmSync(stage, { recursive: true });
}
