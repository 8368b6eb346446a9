// Repositories of packages for the interoperability tests: made, updated and read by the stock tools of Debian and of RPM.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Outcome, Workbench } from './openpgp-tools.ts';

/** A package, its index and a Release file below `repository`. */
export async function makeDebRepository(bench: Workbench): Promise<void> {
  mkdirSync(bench.path('package/DEBIAN'), { recursive: true });
  mkdirSync(bench.path('repository'));
  const control = 'Package: keystored-probe\nVersion: 1\nArchitecture: all\nMaintainer: Ada <ada@example.org>\nDescription: probe\n';
  writeFileSync(bench.path('package/DEBIAN/control'), control);
  await bench.run('dpkg-deb', ['--build', 'package', 'repository/keystored-probe.deb']);
  const made = await bench.run('sh', [
    '-c',
    'cd repository && apt-ftparchive packages . > Packages && apt-ftparchive release . > ../Release && mv ../Release .',
  ]);
  expect([made.code, made.stderr]).toEqual([0, '']);
}

// An apt of its own: nothing of the machine's configuration, lists or cache is read or written.
function apt(bench: Workbench, ...command: readonly string[]): Promise<Outcome> {
  for (const directory of ['lists/partial', 'archives/partial', 'etc']) mkdirSync(bench.path(directory), { recursive: true });
  const options = {
    'Dir::Etc': bench.path('etc'),
    'Dir::Etc::SourceList': bench.path('sources.list'),
    'Dir::Etc::SourceParts': '-',
    'Dir::State': bench.path('.'),
    'Dir::State::Lists': bench.path('lists'),
    'Dir::State::status': bench.file('status', ''),
    'Dir::Cache': bench.path('.'),
    'Dir::Cache::archives': bench.path('archives'),
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
  };
  return bench.run('apt-get', [...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]), ...command]);
}

/** `apt-get update` of the repository with this keyring alone. */
export function aptUpdate(bench: Workbench, keyring: string): Promise<Outcome> {
  return aptUpdateFrom(bench, `[signed-by=${keyring}] file:${bench.path('repository')} ./`);
}

/** `apt-get update` of one source. */
export function aptUpdateFrom(bench: Workbench, source: string): Promise<Outcome> {
  // What it has fetched before it takes for the same file when both were written in one second.
  rmSync(bench.path('lists'), { recursive: true, force: true });
  bench.file('sources.list', `deb ${source}\n`);
  return apt(bench, 'update');
}

/** Downloads the package of the repository. */
export function aptDownload(bench: Workbench): Promise<Outcome> {
  return apt(bench, 'download', 'keystored-probe');
}

/** A package for RPM; answers its path. */
export async function makeRpm(bench: Workbench): Promise<string> {
  const spec = `
Name: probe
Version: 1
Release: 1
Summary: probe
License: none
BuildArch: noarch
%description
probe
%install
mkdir -p %{buildroot}/opt
head -c 5000 /dev/urandom > %{buildroot}/opt/probe
%files
/opt/probe
`;
  const built = await bench.run('rpmbuild', ['--define', `_topdir ${bench.path('rpm')}`, '-bb', bench.file('probe.spec', spec)]);
  expect([built.code, built.stderr]).toEqual([0, expect.any(String)]);
  return bench.path('rpm/RPMS/noarch/probe-1-1.noarch.rpm');
}
