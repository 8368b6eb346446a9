// The tools that build and test images (mkosi, QEMU, swtpm and their dependencies), in a separate Debian tree, so that every machine has
// the same.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { run } from '../run.ts';

const repository = resolve(import.meta.dirname, '../../..');
const packages = [
  ...['mkosi', 'systemd', 'systemd-repart', 'systemd-ukify', 'systemd-boot-efi', 'systemd-boot-tools', 'systemd-container'],
  ...['erofs-utils', 'dosfstools', 'mtools', 'cryptsetup-bin', 'e2fsprogs', 'fdisk', 'zstd', 'cpio', 'kmod', 'python3-pefile'],
  ...['openssl', 'ca-certificates', 'dpkg-dev', 'reprepro', 'libfaketime'],
  ...['qemu-system-x86', 'qemu-utils', 'ovmf', 'swtpm', 'swtpm-tools'],
];

/** Found before the one of Debian, which writes the time of day into each signature for Secure Boot: here that of the commit. */
const signTool = `#!/bin/sh
if [ -n "$SOURCE_DATE_EPOCH" ]; then
  LD_PRELOAD=$(echo /usr/lib/*/faketime/libfaketime.so.1)
  FAKETIME=$(date --utc --date="@$SOURCE_DATE_EPOCH" '+%Y-%m-%d %H:%M:%S')
  export TZ=UTC LD_PRELOAD FAKETIME
fi
exec /usr/lib/systemd/systemd-sbsign "$@"
`;

/** Cache of image builds: tools, test keys, downloaded packages. */
export const imageCache = process.env['KEYSTORED_IMAGE_CACHE'] ?? join(repository, 'node_modules/.cache/keystored-image');
const tree = join(imageCache, 'tools');

/** Builds the tree of tools unless the existing one has the same packages. Needs root and mmdebstrap; 630 MB, some minutes. */
export function provideTools(): void {
  if (process.getuid?.() !== 0) throw new Error('images are built in name spaces of root: run this with sudo');
  const stamp = join(imageCache, 'tools.packages');
  const wanted = [...packages, signTool].join('\n');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.error('making the tree of tools (630 MB, some minutes the first time) …');
  const unfinished = `${tree}.new`;
  for (const path of [unfinished, tree, stamp]) rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(tree), { recursive: true });
  run('mmdebstrap', ['--quiet', '--variant=apt', `--include=${packages.join(',')}`, 'trixie', unfinished]);
  writeFileSync(join(unfinished, 'usr/bin/systemd-sbsign'), signTool, { mode: 0o755 });
  renameSync(unfinished, tree);
  writeFileSync(stamp, wanted);
}

/**
 * The command line that runs `command` with the tree as its root directory, in a mount name space of its own, as the same process.
 * It sees the repository, the cache, the temporary directory and `directories` at their own places, and the network of this machine.
 */
export function inTools(command: string, args: readonly string[], directories: readonly string[] = []): [string, string[]] {
  const seen = [tmpdir(), repository, imageCache, ...directories];
  return ['unshare', ['--mount', '--propagation', 'private', 'sh', '-euc', enter, 'sh', tree, seen.join(' '), command, ...args]];
}

/** Not a plain chroot: tools that create name spaces require their root to be a mount point. */
const enter = `
tree=$1 seen=$2 here=$PWD; shift 2
mount --bind "$tree" "$tree"
cd "$tree"
for directory in /proc /sys /dev $seen; do mkdir -p ".$directory"; mount --rbind "$directory" ".$directory"; done
cat /etc/resolv.conf >etc/resolv.conf
pivot_root . mnt
umount -l /mnt
cd "$here" 2>/dev/null || cd /
exec "$@"`;

/** Runs a command with the tree of tools as its root, and returns its output. Throws with its error output. */
export function runTool(command: string, args: readonly string[]): string {
  return run(...inTools(command, args));
}
