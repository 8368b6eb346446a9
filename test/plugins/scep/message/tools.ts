// OpenSSL's command line, the other implementation of CMS.
import { spawnSync } from 'node:child_process';

/** Runs it; answers its standard output. Throws what it says when it fails. */
export function openssl(...words: readonly string[]): Buffer {
  const { status, stderr, stdout } = spawnSync('openssl', words, { maxBuffer: 1 << 24 });
  if (status !== 0) throw new Error(`openssl ${words.join(' ')}: ${stderr.toString()}`);
  return stdout;
}
