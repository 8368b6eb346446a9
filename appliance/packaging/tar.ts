// Archives of trees, the same octets for the same tree.
import { run } from './run.ts';

/**
 * Packs `members` of a directory into `target`, with gzip where its name ends so. Whatever the umask was: files that are run are 0755,
 * others 0644.
 */
export function archiveTar(target: string, directory: string, members: readonly string[], epochSeconds: number): void {
  const settled = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${epochSeconds}`, '--mode=u=rwX,go=rX'];
  const packed = target.endsWith('.gz') ? ['--use-compress-program=gzip -9 --no-name'] : [];
  run('tar', ['--create', '--format=ustar', ...settled, ...packed, `--file=${target}`, `--directory=${directory}`, ...members]);
}
