// npm run build oci: a container image for trials, dist/keystored_VERSION_ARCH.oci.tar, which `docker load` and `podman load` take, with
// its bills of materials beside it. One layer: a few Debian packages and the contents of our own. Needs mmdebstrap, and root or user
// namespaces.
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { debsOfRoot } from '../bill/debian.ts';
import { daemonParts, debianParts } from '../bill/parts.ts';
import { sha256Of, writeBills } from '../bill/write.ts';
import { commitEpochSeconds, debianArchitecture } from '../debian-archive.ts';
import { describeEtcd, etcdParts } from '../etcd/modules.ts';
import { run } from '../run.ts';
import { archiveTar } from '../tar.ts';

const here = import.meta.dirname;
const repository = resolve(here, '../../..');

/**
 * Packages for the daemon, its commands, the embedded token and `tls-key: token` beside the essential ones of Debian; tini reaps children.
 */
const debianPackages = 'ca-certificates,libatomic1,libengine-pkcs11-openssl,libstdc++6,p11-kit-modules,softhsm2,tini';
/** A number, not a name: orchestrators that require a user other than root check this. */
const user = 64_646;

const suite = process.env['KEYSTORED_TEST_SUITE'] ?? 'trixie';
const mirror = process.env['KEYSTORED_TEST_MIRROR'];
const [output = join(repository, 'dist')] = process.argv.slice(2);
const architecture = debianArchitecture();
const epochSeconds = commitEpochSeconds();

const work = mkdtempSync(join(tmpdir(), 'keystored-oci-'));
try {
  console.log(buildImage());
} finally {
  rmSync(work, { recursive: true });
}

function buildImage(): string {
  const deb = run(process.execPath, [join(here, '../build-deb.ts'), manifest.version, work]).trim();
  const etcdDeb = run(process.execPath, [join(here, '../etcd/build-deb.ts'), work]).trim();
  const layer = join(work, 'layer.tar');
  makeLayer([deb, etcdDeb], layer);
  const diffId = sha256Of(layer);
  run('gzip', ['--no-name', layer]);
  const layout = join(work, 'layout');
  const blobs = join(layout, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const layerBlob = { digest: sha256Of(`${layer}.gz`), size: statSync(`${layer}.gz`).size };
  renameSync(`${layer}.gz`, join(blobs, layerBlob.digest));
  describe(layout, diffId, layerBlob);
  mkdirSync(output, { recursive: true });
  const target = join(output, `keystored_${manifest.version}_${architecture}.oci.tar`);
  archiveTar(target, layout, ['blobs', 'index.json', 'manifest.json', 'oci-layout'], epochSeconds);
  const debs = debsOfRoot(work, readFileSync(join(work, 'index'), 'utf8'));
  writeBills(target, {
    kind: 'container',
    parts: [...daemonParts(), ...etcdParts(describeEtcd()), ...debianParts(debs, suite)],
    epochSeconds,
  });
  return target;
}

/** The root file system. Our packages are unpacked, not installed: they would bring systemd. Nothing in it tells where it was made. */
function makeLayer(ownPackages: readonly string[], target: string): void {
  const data = '"$1/var/lib/keystored"';
  const owner = `${user}:${user}`;
  const account = `keystored:x:${user}:`;
  const dpkg = join(work, 'var/lib/dpkg');
  mkdirSync(dpkg, { recursive: true });
  const installed = 'dpkg-query --admindir="$1/var/lib/dpkg" --show --showformat=\'${Package}=${Version}\\n\'';
  const hooks = [
    ...ownPackages.map((deb) => `dpkg-deb --extract ${deb} "$1"`),
    `upload ${join(here, 'keystored.yaml')} /etc/keystored/keystored.yaml`,
    // Uploaded with the modes that it has here, which the umask of a clone decides.
    'chmod 644 "$1/etc/keystored/keystored.yaml"',
    `printf '${account}${user}:keystored:/var/lib/keystored:/usr/sbin/nologin\\n' >>"$1/etc/passwd" && printf '${account}\\n' >>"$1/etc/group"`,
    `mkdir -p ${data} && chown ${owner} ${data} && chmod 700 ${data}`,
    `download /var/lib/dpkg/status ${join(dpkg, 'status')}`,
    `APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-cache show $(${installed}) >"$1/tmp/index"`,
    `download /tmp/index ${join(work, 'index')}`,
    'find "$1" -xdev -type f -perm /6000 -exec chmod a-s {} +',
    'rm -rf "$1"/usr/share/doc/* "$1"/usr/share/man/* "$1"/usr/share/locale/* "$1"/var/cache/* "$1"/var/log/* "$1"/usr/lib/systemd',
    // Of the machine that builds: its name servers, its name and its mirror of Debian. Container engines have their own.
    'rm -rf "$1"/tmp/index "$1"/etc/resolv.conf "$1"/etc/hostname "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*',
  ];
  const sources = mirror === undefined ? [] : [mirror];
  run(
    'mmdebstrap',
    [
      ...['--variant=essential', '--format=tar', `--include=${debianPackages}`, '--dpkgopt=path-exclude=/usr/share/man/*'],
      ...hooks.map((hook) => `--customize-hook=${hook}`),
      ...[suite, target, ...sources],
    ],
    { environment: { SOURCE_DATE_EPOCH: String(epochSeconds) } },
  );
}

type Blob = { readonly digest: string; readonly size: number };

/** The OCI image layout (image-spec 1.1), and the manifest.json that docker looked for before it knew that. */
function describe(layout: string, diffId: string, layer: Blob): void {
  const layers = [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', digest: `sha256:${layer.digest}`, size: layer.size }];
  const tag = `keystored:${manifest.version}`;
  const config = addBlob(layout, {
    created: new Date(epochSeconds * 1_000).toISOString(),
    ...{ architecture, os: 'linux' },
    config: {
      User: `${user}:${user}`,
      ExposedPorts: { '4646/tcp': {}, '4665/tcp': {} },
      Env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'NODE_ENV=production', 'NODE_COMPILE_CACHE=/tmp/keystored-cache'],
      Entrypoint: ['/usr/bin/tini', '--', '/usr/bin/keystored', '--config', '/etc/keystored/keystored.yaml'],
      Volumes: { '/var/lib/keystored': {} },
      WorkingDir: '/var/lib/keystored',
      StopSignal: 'SIGTERM',
      Labels: { 'org.opencontainers.image.version': manifest.version, 'org.opencontainers.image.licenses': manifest.license },
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${diffId}`] },
  });
  const described = addBlob(layout, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: `sha256:${config.digest}`, size: config.size },
    layers,
  });
  writeJson(join(layout, 'oci-layout'), { imageLayoutVersion: '1.0.0' });
  writeJson(join(layout, 'index.json'), {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        ...{ digest: `sha256:${described.digest}`, size: described.size },
        platform: { architecture, os: 'linux' },
        // docker takes the name with its tag from the first, other tools the tag from the second.
        annotations: { 'io.containerd.image.name': `docker.io/library/${tag}`, 'org.opencontainers.image.ref.name': manifest.version },
      },
    ],
  });
  writeJson(join(layout, 'manifest.json'), [
    { Config: `blobs/sha256/${config.digest}`, RepoTags: [tag], Layers: [`blobs/sha256/${layer.digest}`] },
  ]);
}

function addBlob(layout: string, content: unknown): Blob {
  const text = JSON.stringify(content);
  const digest = hash('sha256', text, 'hex');
  writeFileSync(join(layout, 'blobs/sha256', digest), text);
  return { digest, size: Buffer.byteLength(text) };
}

function writeJson(path: string, content: unknown): void {
  writeFileSync(path, JSON.stringify(content));
}
